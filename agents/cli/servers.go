package cli

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"sandboxrun/agents"
	"sandboxrun/sandbox"
)

// ServerLimit bounds how long a turn waits until the MCP servers of its task are
// connected, for adapters that can tell.
const ServerLimit = 20 * time.Second

// ReportServer tells the host that an MCP server of the task is not connected.
func (c *Conversation) ReportServer(name, why string) {
	if why == "" {
		why = "it did not answer"
	}
	c.Emit(agents.KindSystemMessage, agents.Message{Text: fmt.Sprintf("MCP server %s is not connected: %s", Head(name, 256), Head(why, 1<<10))})
}

// serversDir is where the box records which of the watched servers answered.
const serversDir = "/tmp/.sandboxrun-mcp"

// watchScript runs an MCP server, records that it has said a line, and with
// which exit code it left. The first argument is the server's number.
const watchScript = `mkdir -p ` + serversDir + `
{ "$@"; echo "$?" >` + serversDir + `/"$0".code; } | {
	if IFS= read -r line; then
		: >` + serversDir + `/"$0".up
		printf '%s\n' "$line"
	fi
	exec cat
}`

// WatchServers returns servers whose programs are recorded by the box, for a CLI
// that does not report which of them are connected. Servers at an address are
// left as they are.
func WatchServers(servers []agents.Server) []agents.Server {
	list := slices.Clone(servers)
	for i, s := range list {
		if s.URL == "" {
			list[i].Command, list[i].Args = "sh", append([]string{"-c", watchScript, strconv.Itoa(i), s.Command}, s.Args...)
		}
	}
	return list
}

// ReportWatched reports the servers that have said nothing, after the turn.
func (c *Conversation) ReportWatched(ctx context.Context, box sandbox.Sandbox, servers []agents.Server) {
	if !slices.ContainsFunc(servers, func(s agents.Server) bool { return s.URL == "" }) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), LingerGrace)
	defer cancel()
	out, errs := NewTail(StderrKept), NewTail(StderrKept)
	exit, err := box.Exec(ctx, sandbox.Command{
		Argv:   []string{"sh", "-c", `cd "$0" && for f in *; do [ -f "$f" ] && echo "$f $(head -c 16 "$f")"; done`, serversDir},
		Stdout: out, Stderr: errs, Stdin: strings.NewReader(""),
	})
	if err != nil || exit.Code != 0 && out.String() == "" && errs.String() == "" {
		return // a box that is gone tells nothing
	}
	said := map[string]string{}
	for line := range strings.Lines(out.String()) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		said[path.Base(name)] = text
	}
	for i, s := range servers {
		n := strconv.Itoa(i)
		_, up := said[n+".up"]
		code, left := said[n+".code"]
		switch {
		case s.URL != "" || up:
		case left:
			c.ReportServer(s.Name, "it left with exit code "+code)
		default:
			c.ReportServer(s.Name, "")
		}
	}
}
