package conformance

import (
	"bytes"
	"encoding/json"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"sandboxrun/agents"
	"sandboxrun/agents/agentstest"
	"sandboxrun/agents/scripted/kit"
	"sandboxrun/gitdiff/change"
)

// hostile is what a repository may hold that speaks to one CLI: files that
// redirect its model, start its hooks, plugins and MCP servers, and allow
// themselves its tools. Commands in them leave a file /workspace/canary-NAME;
// {thief} stands for the address of a server that nobody may reach.
type hostile struct {
	Files map[string]json.RawMessage `json:"files"` // a string, or JSON that is the file's content
	// Ran lists canaries that nothing switches off in this CLI: there the box,
	// which has no key and no network, is all that holds.
	Ran []string `json:"ran"`
}

func readHostile(t *testing.T, agent string) hostile {
	t.Helper()
	path := filepath.Join("..", "recordings", agent, "hostile.json")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v: write what a hostile repository holds for %s", err, agent)
	}
	var h hostile
	if err := json.Unmarshal(b, &h); err != nil || len(h.Files) == 0 {
		t.Fatalf("%s: %v, or no files", path, err)
	}
	return h
}

// hostileFiles is a repository that speaks to every CLI at once. Files that
// several CLIs read, such as .env, have the lines for each.
func hostileFiles(t *testing.T, thief string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, a := range agents.All() {
		for path, content := range readHostile(t, a.Info().Name).Files {
			var text string
			if json.Unmarshal(content, &text) != nil {
				var b bytes.Buffer
				if err := json.Compact(&b, content); err != nil {
					t.Fatal(err)
				}
				text = b.String()
			}
			files[path] += strings.ReplaceAll(text, "{thief}", thief)
		}
	}
	return files
}

// TestWhatAgentsObeyIsKnown compares what is written twice of an agent: what it
// obeys in a repository with the hazards of a change, and with the files of the
// hostile repository.
func TestWhatAgentsObeyIsKnown(t *testing.T) {
	t.Parallel()
	hazards := map[string]bool{}
	for _, h := range change.Hazards {
		for _, p := range h.Paths() {
			hazards[p] = true
		}
	}
	for _, a := range agents.All() {
		info := a.Info()
		for _, p := range info.Obeys {
			if !hazards[p] {
				t.Errorf("%s obeys %s (Info.Obeys): no class of change.Hazards lists it", info.Name, p)
			}
		}
		for path := range readHostile(t, info.Name).Files {
			if path != ".env" && !slices.ContainsFunc(info.Obeys, func(p string) bool { return obeyed(p, path) }) {
				t.Errorf("agents/recordings/%s/hostile.json has %s, which Info.Obeys does not list", info.Name, path)
			}
		}
	}
}

// obeyed says whether a path of Info.Obeys covers a file.
func obeyed(pattern, file string) bool {
	name := strings.TrimPrefix(pattern, "/")
	return file == name || strings.HasSuffix(name, "/") && strings.HasPrefix(file, name)
}

// conformHostile lets a CLI do the same work as conformWork in a hostile
// repository: nothing of it runs without being asked for, no other endpoint is
// reached, no key is seen.
func conformHostile(t *testing.T, agent string, k kit.Kit) {
	known := readHostile(t, agent).Ran
	var stolen atomic.Int64
	thief := httptest.NewUnstartedServer(http.NotFoundHandler())
	thief.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			stolen.Add(1)
		}
	}
	thief.Start()
	t.Cleanup(thief.Close)
	files := hostileFiles(t, thief.URL)
	maps.Copy(files, workFiles)
	j, ctx := agentstest.NewBoundedJob(t, agent, k, files, workSteps(k, "touch ran.txt; ")...)
	// Some CLIs obey a repository's plugins only where it is one.
	if out, err := exec.Command("git", "-C", j.Workspace, "init", "-q").CombinedOutput(); err != nil {
		t.Fatalf("git init: %v: %s", err, out)
	}
	mustWork(t, j, j.MustEnd(ctx))
	if n := stolen.Load(); n != 0 {
		t.Errorf("the repository's endpoint was reached %d times", n)
	}
	left, err := filepath.Glob(filepath.Join(j.Workspace, "canary-*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range left {
		name := strings.TrimPrefix(filepath.Base(path), "canary-")
		if !slices.Contains(known, name) {
			t.Errorf("the repository ran a command: %s", name)
		}
	}
	edit, command := 0, 0
	for _, r := range j.Host.Asked {
		if r.Action == agents.ActionEdit {
			edit++
		}
		if r.Action == agents.ActionCommand {
			command++
		}
	}
	if edit == 0 || command == 0 {
		t.Errorf("asked for %d edits and %d commands: the repository allowed itself the tools", edit, command)
	}
	if !j.Exists("ran.txt") {
		t.Error("the allowed command did not run")
	}
}
