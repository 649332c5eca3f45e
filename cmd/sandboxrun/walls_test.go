package main

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
)

const module = "sandboxrun"

// rooms is the import table of ARCHITECTURE.md: which of our own packages a
// package may import. A package below a room follows the room's row unless it
// has one of its own.
var rooms = map[string][]string{
	"schemas":                 {},
	"images":                  {},
	"runner/step":             {},
	"sandbox":                 {"runner/step"},
	"sandbox/docker":          {"sandbox", "runner/step"},
	"sandbox/egress":          {"sandbox"},
	"sandbox/probe":           {},
	"sandbox/sandboxtest":     {"sandbox"},
	"gitdiff":                 {"runner/step", "gitdiff/quota"},
	"gitdiff/quota":           {},
	"gitdiff/quota/testdata":  {"gitdiff", "gitdiff/quota"},
	"gitdiff/gitdifftest":     {},
	"agents":                  {"sandbox"},
	"agents/agentstest":       {"agents", "agents/agentstest", "agents/recordings", "sandbox"},
	"agents/recordings":       {},
	"runner/check":            {"gitdiff"},
	"runner/leak":             {},
	"runner/redact":           {},
	"runner":                  {"runner/step", "schemas", "sandbox", "sandbox/egress", "gitdiff", "agents", "runner/check", "runner/leak", "runner/redact"},
	"cmd/sandboxrun":          {"*"},
	"scripts":                 {"scripts/marked"},
	"scripts/attacktable":     {"cmd/sandboxrun/attack", "scripts/marked"},
	"scripts/soak":            {"*"},
	"sandbox/egress/testdata": {"sandbox/egress"},
}

// walls says which outside library may be imported by one room only.
var walls = map[string]string{
	"github.com/docker/docker": "sandbox/docker",
	"github.com/go-git/":       "gitdiff",
	"github.com/urfave/cli":    "cmd/sandboxrun",
}

type goPackage struct {
	ImportPath string   `json:"ImportPath"`
	Imports    []string `json:"Imports"`
}

func TestRoomsImportOnlyWhatTheTableAllows(t *testing.T) {
	t.Parallel()
	for _, p := range listPackages(t) {
		name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		allowed, ok := row(name)
		if !ok {
			t.Errorf("package %s has no row in the import table", name)
			continue
		}
		for _, imp := range p.Imports {
			if own, ok := strings.CutPrefix(imp, module+"/"); ok && !permits(allowed, own) {
				t.Errorf("%s imports %s, which its row does not allow", name, own)
			}
		}
	}
}

func TestEachWallHasOneDoor(t *testing.T) {
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
				if name != door {
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

func row(name string) ([]string, bool) {
	for n := name; n != "." && n != ""; {
		if allowed, ok := rooms[n]; ok {
			return allowed, true
		}
		i := strings.LastIndexByte(n, '/')
		if i < 0 {
			break
		}
		n = n[:i]
	}
	return nil, false
}

func permits(allowed []string, own string) bool {
	for _, a := range allowed {
		if a == "*" || own == a || strings.HasPrefix(own, a+"/") && a == "agents/agentstest" {
			return true
		}
	}
	return false
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
