package check

import (
	"strings"
	"testing"

	"sandboxrun/runner/goapi"
)

func TestLogFormat(t *testing.T) {
	t.Parallel()
	surface := func(logs map[string]int, forms ...string) *goapi.Surface {
		s := &goapi.Surface{Logs: logs, Forms: map[string]int{}, Excluded: []string{"w_windows.go"}}
		for _, f := range forms {
			s.Forms[f]++
		}
		return s
	}
	was := surface(map[string]int{`log.Printf("a")`: 2}, "log.SetFlags(0)")
	for name, tt := range map[string]struct {
		change repo
		now    *goapi.Surface
		want   Outcome
		says   string
	}{
		"nothing":              {want: Pass},
		"words":                {change: repo{"README.md": "x"}, want: Pass},
		"as before":            {change: repo{"a.go": "x"}, now: was, want: Pass, says: "2 now"},
		"more":                 {change: repo{"a.go": "x"}, now: surface(map[string]int{`log.Printf("a")`: 2, `log.Printf("b")`: 1}, "log.SetFlags(0)"), want: Pass},
		"one of two is gone":   {change: repo{"a.go": "x"}, now: surface(map[string]int{`log.Printf("a")`: 1}, "log.SetFlags(0)"), want: Fail, says: "Printf"},
		"other flags":          {change: repo{"a.go": "x"}, now: surface(was.Logs, "log.SetFlags(1)"), want: Fail},
		"a new logger":         {change: repo{"a.go": "x"}, now: surface(was.Logs, "log.SetFlags(0)", "slog.New(h)"), want: Unverifiable},
		"not extracted":        {change: repo{"a.go": "x"}, want: Unverifiable},
		"for another system":   {change: repo{"w_windows.go": "x"}, now: was, want: Unverifiable},
		"another language":     {change: repo{"a.py": "x"}, want: Unverifiable, says: "Python"},
		"settings of a logger": {change: repo{"conf/logback.xml": "x"}, want: Unverifiable, says: "settings"},
		"another xml":          {change: repo{"conf/catalog.xml": "x", "login.yaml": "x"}, want: Pass},
	} {
		e := evidenceOf(repo{}, tt.change)
		if tt.now != nil {
			e.GoAPI = &GoAPI{Base: was, Captured: tt.now}
		}
		c, err := New("log_format", []byte(`{"kind":"log_format"}`))
		if err != nil {
			t.Fatal(err)
		}
		if v, err := c.Check(t.Context(), e); err != nil || v.Verdict != tt.want || !strings.Contains(v.Evidence, tt.says) {
			t.Errorf("%s: %+v, error %v, want %s with %q", name, v, err, tt.want, tt.says)
		}
	}
	if !NeedsGoAPI(logFormat{}, evidenceOf(repo{}, repo{"a.go": "x"}).Changes) || NeedsGoAPI(logFormat{}, evidenceOf(repo{}, repo{"a.md": "x"}).Changes) {
		t.Error("it must ask for what it needs, and for no more")
	}
}
