package document

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"sandboxrun/schemas"
)

// place is one field of a schema.
type place struct {
	parent string // pointer of its object, with * for an index or a name of the caller's
	name   string
}

func (pl place) pointer() string { return pl.parent + "/" + pl.name }

// otherNames are words of other programs and of everyday speech for fields of ours, by their plain form.
var otherNames = map[string]string{
	"goal": "objective", "title": "objective", "description": "objective", "summary": "objective",
	"prompt": "instructions", "instruction": "instructions", "message": "instructions", "task": "instructions",
	"repo": "repo_root", "repository": "repo_root", "cwd": "repo_root", "workdir": "repo_root", "workspace": "repo_root", "root": "repo_root",
	"branch": "base", "revision": "base", "ref": "base", "commit": "base",
	"files":   "files_of_interest",
	"timeout": "max_runtime_seconds", "timeoutseconds": "max_runtime_seconds", "maxruntime": "max_runtime_seconds",
	"cmd": "command", "run": "command", "script": "command", "exitcode": "expect_exit", "expectedexit": "expect_exit", "exit": "expect_exit",
	"checks": "acceptance_criteria", "acceptance": "acceptance_criteria", "criteria": "acceptance_criteria", "tests": "acceptance_criteria",
	"mode": "execution_mode", "commands": "suggested_commands", "setup": "setup_commands", "install": "setup_commands",
	"protect": "protected_paths", "protected": "protected_paths", "readonlypaths": "protected_paths",
	"id": "task_id", "name": "task_id", "session": "session_id", "notes": "notes_for_human", "sandbox": "box", "container": "box",
	"mem": "memory", "ram": "memory", "cpu": "cpus", "environment": "env", "hosts": "allow", "mcp": "mcp_servers",
	"key": "key_env", "apikey": "key_env", "url": "base_url", "endpoint": "base_url", "agent": "default_agent",
}

// meantField says which field of a schema the writer of name in the object at the place parent meant; "" when nobody
// can tell. A field of the same object is named alone, any other by its pointer.
func meantField(schema, parent, name string) string {
	all := schemaPlaces()[schema]
	var here, elsewhere []string
	at := map[string]string{}
	for _, pl := range all {
		switch {
		case pl.parent == parent:
			here = append(here, pl.name)
		case !strings.Contains(pl.parent, "*"): // an element of a list has no address to point to
			elsewhere = append(elsewhere, pl.name)
			if at[pl.name] == "" {
				at[pl.name] = pl.pointer()
			}
		}
	}
	other := otherNames[plainName(name)]
	switch {
	case slices.ContainsFunc(here, func(n string) bool { return plainName(n) == plainName(name) }):
		return strconv.Quote(Nearest(name, here))
	case other != "" && slices.Contains(here, other):
		return strconv.Quote(other)
	case slices.ContainsFunc(elsewhere, func(n string) bool { return plainName(n) == plainName(name) }):
		return at[Nearest(name, elsewhere)]
	case at[other] != "":
		return at[other]
	}
	if near := Nearest(name, here); near != "" {
		return strconv.Quote(near)
	}
	return at[Nearest(name, elsewhere)]
}

// schemaPlaces lists the fields of every schema, those nearest to the root first.
var schemaPlaces = sync.OnceValue(func() map[string][]place {
	all := map[string][]place{}
	for _, name := range schemas.Names() {
		text, err := schemas.ByName(name)
		if err != nil {
			panic(err) // names and files of this very program differ
		}
		var doc map[string]any
		if err := json.Unmarshal(text, &doc); err != nil {
			panic(fmt.Sprintf("schema %s: %v", name, err))
		}
		w := placeWalk{root: doc, seen: map[place]bool{}}
		w.visit(doc, "", 0)
		slices.SortStableFunc(w.found, func(a, b place) int {
			return strings.Count(a.parent, "/") - strings.Count(b.parent, "/")
		})
		all[name] = w.found
	}
	return all
})

// maxPlaceDepth bounds the nesting of schemas that refer to themselves.
const maxPlaceDepth = 12

type placeWalk struct {
	root  map[string]any
	seen  map[place]bool
	found []place
}

// visit collects the fields of a schema whose values stand at the place at.
func (w *placeWalk) visit(node any, at string, depth int) {
	n, ok := node.(map[string]any)
	if !ok || depth > maxPlaceDepth {
		return
	}
	if ref, ok := n["$ref"].(string); ok {
		w.visit(w.resolve(ref), at, depth+1)
	}
	if fields, ok := n["properties"].(map[string]any); ok {
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			pl := place{parent: at, name: name}
			if !w.seen[pl] {
				w.seen[pl] = true
				w.found = append(w.found, pl)
			}
			w.visit(fields[name], at+"/"+name, depth+1)
		}
	}
	for _, word := range []string{"items", "additionalProperties"} {
		w.visit(n[word], at+"/*", depth+1)
	}
	if patterns, ok := n["patternProperties"].(map[string]any); ok {
		for _, name := range slices.Sorted(maps.Keys(patterns)) {
			w.visit(patterns[name], at+"/*", depth+1)
		}
	}
	for _, word := range []string{"oneOf", "anyOf", "allOf"} {
		if list, ok := n[word].([]any); ok {
			for _, sub := range list {
				w.visit(sub, at, depth+1)
			}
		}
	}
	for _, word := range []string{"if", "then", "else"} {
		w.visit(n[word], at, depth+1)
	}
}

// resolve follows a reference inside of the same schema, such as "#/$defs/size".
func (w *placeWalk) resolve(ref string) any {
	var node any = w.root
	for tok := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		node = child(node, tok)
	}
	return node
}

// placeOf is the place of an object with the given location in a document of the schema: names and indices that the
// schema leaves to the caller become *.
func placeOf(schema string, location []string) string {
	parents := map[string]bool{}
	for _, pl := range schemaPlaces()[schema] {
		parents[pl.parent] = true
		parents[pl.pointer()] = true
	}
	at := ""
	for _, tok := range location {
		if next := at + "/" + tok; parents[next] {
			at = next
			continue
		}
		at += "/*"
	}
	return at
}
