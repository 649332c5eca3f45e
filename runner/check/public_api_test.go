package check

import (
	"encoding/json"
	"strings"
	"testing"

	"sandboxrun/runner/goapi"
)

func TestPublicAPI(t *testing.T) {
	t.Parallel()
	surface := func(entries map[string]goapi.Entry, problems ...string) *goapi.Surface {
		return &goapi.Surface{Packages: 1, Entries: entries, Excluded: []string{"w_windows.go"}, Problems: problems}
	}
	f := func(dir, text string, params ...string) goapi.Entry {
		return goapi.Entry{Kind: goapi.Func, Dir: dir, Text: text, Shape: strings.Join(params, ","), Params: params}
	}
	was := map[string]goapi.Entry{"m.F": f(".", "func(a, b)", "a", "b"), "m/sub.G": f("sub", "func()")}
	same := &GoAPI{Base: surface(was), Captured: surface(was)}
	with := func(name string, e goapi.Entry) *GoAPI {
		now := map[string]goapi.Entry{"m.F": was["m.F"], "m/sub.G": was["m/sub.G"]}
		if now[name] = e; e.Kind == "" {
			delete(now, name)
		}
		return &GoAPI{Base: surface(was), Captured: surface(now)}
	}
	for name, tt := range map[string]struct {
		params string
		change repo
		api    *GoAPI
		want   Outcome
		says   string
	}{
		"nothing":                   {want: Pass},
		"words only":                {change: repo{"README.md": "x", "a_test.go": "x"}, want: Pass},
		"as before":                 {change: repo{"a.go": "x"}, api: same, want: Pass, says: "2 names"},
		"gone":                      {change: repo{"a.go": "x"}, api: with("m.F", goapi.Entry{}), want: Fail, says: "m.F func is gone"},
		"new":                       {change: repo{"a.go": "x"}, api: with("m.H", f(".", "func()")), want: Pass},
		"new, where nothing may be": {params: `,"additions":false`, change: repo{"a.go": "x"}, api: with("m.H", f(".", "func()")), want: Fail},
		"another parameter":         {change: repo{"a.go": "x"}, api: with("m.F", goapi.Entry{Kind: goapi.Func, Text: "func(a, c)", Shape: "a,b", Params: []string{"a", "c"}}), want: Fail},
		"another parameter that may be": {params: `,"level":"compatible"`, change: repo{"a.go": "x"},
			api: with("m.F", goapi.Entry{Kind: goapi.Func, Text: "func(a, c)", Shape: "a,b", Params: []string{"a", "c"}}), want: Pass},
		"swapped": {params: `,"level":"compatible"`, change: repo{"a.go": "x"},
			api: with("m.F", goapi.Entry{Kind: goapi.Func, Text: "func(b, a)", Shape: "a,b", Params: []string{"b", "a"}}), want: Fail},
		"gone elsewhere":             {params: `,"only":["sub"]`, change: repo{"a.go": "x"}, api: with("m.F", goapi.Entry{}), want: Pass},
		"gone by its directory":      {params: `,"only":["sub/**"]`, change: repo{"sub/a.go": "x"}, api: with("m/sub.G", goapi.Entry{}), want: Fail},
		"gone by its name":           {params: `,"only":["F"]`, change: repo{"a.go": "x"}, api: with("m.F", goapi.Entry{}), want: Fail},
		"gone, and excepted":         {params: `,"except":["F"]`, change: repo{"a.go": "x"}, api: with("m.F", goapi.Entry{}), want: Pass},
		"not extracted":              {change: repo{"a.go": "x"}, want: Unverifiable},
		"not extracted for a limit":  {change: repo{"a.go": "x"}, api: &GoAPI{Missing: "memory"}, want: Unverifiable, says: "memory"},
		"not understood":             {change: repo{"a.go": "x"}, api: &GoAPI{Base: surface(was), Captured: surface(was, "a.go does not parse")}, want: Unverifiable, says: "parse"},
		"for another system":         {change: repo{"w_windows.go": "x"}, api: same, want: Unverifiable, says: "default build"},
		"another language":           {change: repo{"a.ts": "x"}, want: Unverifiable, says: "TypeScript"},
		"another language beside":    {change: repo{"a.ts": "x", "a.go": "x"}, api: with("m.F", goapi.Entry{}), want: Fail},
		"tests of another language":  {change: repo{"a.test.ts": "x", "tests/test_a.py": "x"}, want: Pass},
		"another language elsewhere": {params: `,"only":["sub"]`, change: repo{"a.ts": "x"}, want: Pass},
	} {
		c, err := New("public_api", json.RawMessage(`{"kind":"public_api"`+tt.params+`}`))
		if err != nil {
			t.Fatal(err)
		}
		e := evidenceOf(repo{}, tt.change)
		e.GoAPI = tt.api
		v, err := c.Check(t.Context(), e)
		if err != nil || v.Verdict != tt.want || !strings.Contains(v.Evidence, tt.says) {
			t.Errorf("%s: %+v, error %v, want %s with %q", name, v, err, tt.want, tt.says)
		}
		if needs := NeedsGoAPI(c, e.Changes); needs && strings.Contains(v.Evidence, "no source") {
			t.Errorf("%s: it asks for an API and does not judge it", name)
		}
	}
}
