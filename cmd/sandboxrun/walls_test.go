package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "sandboxrun"

// walls names the outside libraries that only one room may import.
var walls = map[string]string{
	"github.com/docker/docker": "sandbox/docker",
	"github.com/go-git/":       "gitdiff",
	"github.com/urfave/cli":    "cmd/sandboxrun",

	"github.com/danielgtaylor/huma": "runner/httpapi",
	"github.com/coder/websocket":    "runner/httpapi",
	"github.com/prometheus/":        "runner/httpapi",

	"github.com/evanw/esbuild":         "web/bundle",
	"github.com/modelcontextprotocol/": "runner/mcp",
}

type goPackage struct {
	ImportPath string   `json:"ImportPath"`
	Imports    []string `json:"Imports"`
}

func TestRoomsImportOnlyWhatTheTableAllows(t *testing.T) {
	t.Parallel()
	rooms := readRooms(t)
	used := map[string]bool{}
	for _, p := range listPackages(t) {
		name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		room, ok := roomOf(rooms, name)
		if !ok {
			t.Errorf("package %s has no row in the table of ARCHITECTURE.md", name)
			continue
		}
		used[room] = true
		allowed := rooms[room]
		for _, imp := range p.Imports {
			own, ok := strings.CutPrefix(imp, module+"/")
			shared := strings.HasPrefix(own, "internal/") && !strings.HasPrefix(name, "internal/")
			if ok && !shared && !permits(allowed, own) {
				t.Errorf("%s imports %s, which its row in ARCHITECTURE.md does not allow", name, own)
			}
		}
	}
	for room := range rooms {
		if !used[room] {
			t.Errorf("ARCHITECTURE.md has a row for %s, and no package is there", room)
		}
	}
}

func TestOneRoomImportsEachLibrary(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, p := range listPackages(t) {
		name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		for _, imp := range p.Imports {
			for lib, door := range walls {
				if !strings.HasPrefix(imp, lib) {
					continue
				}
				seen[lib] = true
				if name != door && !strings.HasPrefix(name, door+"/") {
					t.Errorf("%s imports %s; only %s may", name, imp, door)
				}
			}
		}
	}
	for lib := range walls {
		if !seen[lib] {
			t.Errorf("nothing imports %s: the wall guards nothing, or the list of packages is wrong", lib)
		}
	}
}

// Code that only tests need is not part of the shipped program.
func TestShippedProgramHoldsNoTestCode(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	const attacks = module + "/cmd/sandboxrun/attack"
	linked := strings.Fields(string(out))
	for _, p := range []string{"testing", attacks + "/table", attacks + "/naive", module + "/sandbox/sandboxtest", module + "/gitdiff/gitdifftest"} {
		if slices.Contains(linked, p) {
			t.Errorf("the program imports %s", p)
		}
	}
	if !slices.Contains(linked, attacks) {
		t.Errorf("%s is not listed: the test inspects the wrong program", attacks)
	}
}

// readRooms reads the table of rooms from ARCHITECTURE.md: for each package, or
// folder of packages, the packages of this module that it may import. "a/..."
// stands for a and everything below it, "everything" for every package.
func readRooms(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("../../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(text), "\n## Rooms\n")
	if !ok {
		t.Fatal("ARCHITECTURE.md has no section called Rooms")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	quoted := regexp.MustCompile("`([^`]+)`")
	rooms := map[string][]string{}
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 5 || !strings.Contains(cells[1], "`") {
			continue
		}
		allowed := []string{}
		for _, m := range quoted.FindAllStringSubmatch(cells[3], -1) {
			allowed = append(allowed, m[1])
		}
		if strings.TrimSpace(cells[3]) == "everything" {
			allowed = []string{"..."}
		}
		for _, m := range quoted.FindAllStringSubmatch(cells[1], -1) {
			rooms[m[1]] = allowed
		}
	}
	if len(rooms) < 10 {
		t.Fatalf("the table of ARCHITECTURE.md has %d rooms, too few to be the project's", len(rooms))
	}
	return rooms
}

// roomOf returns the room whose row covers a package: its own, or that of
// the nearest folder above it.
func roomOf(rooms map[string][]string, name string) (string, bool) {
	for n := name; n != "." && n != "/"; n = path.Dir(n) {
		if _, ok := rooms[n]; ok {
			return n, true
		}
	}
	return "", false
}

func permits(allowed []string, own string) bool {
	return slices.ContainsFunc(allowed, func(a string) bool {
		below, all := strings.CutSuffix(a, "...")
		return a == own || all && strings.HasPrefix(own+"/", below)
	})
}

func listPackages(t *testing.T) []goPackage {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports", module+"/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var list []goPackage
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		list = append(list, p)
	}
	if len(list) < 10 {
		t.Fatalf("go list named %d packages, too few to be the project", len(list))
	}
	return list
}
