package document

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"

	"sandboxrun/agents"
	"sandboxrun/runner/excerpt"
)

// mcpForm is the form of an MCP server's name: it becomes a part of tool names.
var mcpForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// maxMCPServers bounds the servers of one turn.
const maxMCPServers = 50

// McpProblem says why these cannot be an agent's MCP servers; "" when they can.
// A server is a program in the box, or an address the box can reach: mostly its
// own loopback.
func McpProblem(servers map[string]agents.Server) string {
	if len(servers) > maxMCPServers {
		return fmt.Sprintf("has %d servers, at most %d are allowed", len(servers), maxMCPServers)
	}
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		s := servers[name]
		u, err := url.Parse(s.URL)
		switch {
		case !mcpForm.MatchString(name):
			return fmt.Sprintf("%q is not a name of a server", excerpt.Clip(name, 64))
		case (s.Command == "") == (s.URL == ""):
			return name + " needs either a command or a url"
		case s.URL != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil):
			return name + ": url must be an http or https URL without credentials"
		case s.URL != "" && (len(s.Args) > 0 || len(s.Env) > 0), s.Command != "" && len(s.Headers) > 0:
			return name + ": args and env belong to a command, headers to a url"
		}
	}
	return ""
}

// McpServers merges the profile's servers and the task's, which win, by name.
func McpServers(profile, task map[string]agents.Server) []agents.Server {
	all := maps.Clone(profile)
	if all == nil {
		all = map[string]agents.Server{}
	}
	maps.Copy(all, task)
	var list []agents.Server
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s := all[name]
		s.Name = name
		list = append(list, s)
	}
	return list
}
