package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"golang.org/x/net/html"
)

// attacks are texts that mean something to a service, a browser or a reader of Markdown.
var attacks = []string{
	"::set-output name=x::y", "\n::error file=a::b", "\r\n  ::add-mask::x", "text ##[command]x", "##vso[task.setvariable variable=a]b",
	"\x1b[0Ksection_start:1:x[collapsed=true]\r\x1b[0Kx", "section_end:1:x", "</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "]]>",
	"``` \n# heading\n[a](javascript:x)", "`code` **bold** @someone #1 ![i](https://example.org/x)", "\u202eevil\u2066", "</details>", "\x00\x07", "a\xffb", "&amp;&lt;", strings.Repeat("`", 40),
}

// hostile is a real result in which every text is an attack.
func hostile(t *testing.T, attack string, times int) []byte {
	t.Helper()
	text, err := os.ReadFile("../../schemas/testdata/compat/1.0/command/result.json")
	if err != nil {
		t.Fatal(err)
	}
	var r map[string]any
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	r["status"], r["summary"], r["notes_for_human"] = "partial", attack, attack
	judged := []any{}
	for _, verdict := range []string{"pass", "fail", "unverifiable"} {
		judged = append(judged, map[string]any{"text": attack, "check": "command", "verdict": verdict, "evidence": attack})
	}
	var issues, files, commands []any
	for i := range times {
		issues = append(issues, map[string]any{"type": "conflict", "code": "dangerous_path", "description": attack + " in line 7", "suggested_action": attack, "path": fmt.Sprint(attack, i)},
			map[string]any{"type": "conflict", "code": "constraint_violated", "description": attack, "suggested_action": attack})
		files = append(files, map[string]any{"path": fmt.Sprint(attack, i), "change_type": "added", "highlights": []any{attack}, "additions": 1, "deletions": 0})
		commands = append(commands, map[string]any{"command": attack, "exit_code": 1, "stdout_excerpt": attack, "stderr_excerpt": attack, "source": "runner", "phase": "verify",
			"duration_ms": 1, "timed_out": false, "truncated": false})
	}
	r["acceptance"], r["constraints"], r["issues"], r["files_changed"], r["commands_run"] = judged, judged, issues, files, commands
	text, err = json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

var commandOfAService = regexp.MustCompile(`(?m)^\s*::|##\[|##vso\[|section_(start|end):|\x1b`)

func TestTextOfABoxIsNoCommandAndNoMarkup(t *testing.T) {
	t.Parallel()
	for _, attack := range attacks {
		doc := hostile(t, attack, 2)
		for _, f := range Formats() {
			text, err := Write(f, doc, 0)
			if err != nil {
				t.Fatalf("%s: %q: %v", f.Name, attack, err)
			}
			if m := commandOfAService.Find(text); m != nil {
				t.Errorf("%s: %q gives the command %q", f.Name, attack, m)
			}
			check(t, f.Name, attack, text)
		}
	}
}

// check reads a report as its service does.
func check(t *testing.T, form, attack string, text []byte) {
	t.Helper()
	switch form {
	case "markdown":
		var out bytes.Buffer
		if err := goldmark.Convert(text, &out); err != nil {
			t.Fatal(err)
		}
		// goldmark leaves HTML out; what remains of it are the foldings of the report itself.
		if n := strings.Count(out.String(), "<!-- raw HTML omitted -->"); n > 40 || strings.Contains(out.String(), "<img") || strings.Contains(out.String(), "<a ") || strings.Contains(out.String(), "<h1") {
			t.Errorf("markdown: %q: %s", attack, out.String())
		}
		if opened, closed := strings.Count(string(text), "\n<details>"), strings.Count(string(text), "\n</details>"); opened != closed && !strings.Contains(attack, "details") {
			t.Errorf("markdown: %q: %d foldings begin and %d end", attack, opened, closed)
		}
	case "html":
		for z := html.NewTokenizer(bytes.NewReader(text)); z.Next() != html.ErrorToken; {
			if token := z.Token(); token.Type == html.StartTagToken && slices.Contains([]string{"script", "img", "a", "iframe", "object"}, token.Data) {
				t.Errorf("html: %q: <%s>", attack, token.Data)
			}
		}
	case "junit":
		var suites testSuites
		if err := xml.Unmarshal(text, &suites); err != nil || len(suites.Suites) != 3 || suites.Tests != 7 || suites.Failures != 3 || suites.Suites[1].Skipped != 1 {
			t.Errorf("junit: %q: %v: %+v", attack, err, suites)
		}
	case "sarif":
		var log sarifLog
		if err := json.Unmarshal(text, &log); err != nil {
			t.Fatalf("sarif: %q: %v", attack, err)
		}
		run := log.Runs[0]
		if log.Version != "2.1.0" || len(run.Results) != 4 || len(run.Tool.Driver.Rules) != 2 {
			t.Errorf("sarif: %q: %d results", attack, len(run.Results))
		}
		for i, r := range run.Results { // what code scanning refuses a result without
			place := r.Locations[0].Physical
			if _, err := url.Parse(place.Artifact.URI); err != nil || place.Artifact.URI == "" || r.Message.Text == "" || place.Region.StartLine != []int{7, 1}[i%2] || r.Fingerprints["sandboxrun/v1"] == "" {
				t.Errorf("sarif: %q: %+v, %v", attack, r, err)
			}
		}
	}
}

func TestReportsKeepTheLimitsOfServices(t *testing.T) {
	t.Parallel()
	doc := hostile(t, strings.Repeat("`<&\"x", 4000), 5)
	for _, f := range Formats() {
		for _, limit := range []int{0, 100_000, MinLimit} {
			text, err := Write(f, doc, limit)
			most := limit
			if most == 0 {
				most = f.Limit
			}
			if err != nil || len(text) > most {
				t.Errorf("%s in %d: %d bytes, %v", f.Name, limit, len(text), err)
			}
		}
	}
	long := hostile(t, "x", 2500)
	for _, f := range Formats() {
		if text, err := Write(f, long, 0); err != nil || len(text) > f.Limit {
			t.Errorf("%s: %d bytes, %v", f.Name, len(text), err)
		}
	}
}

// Where nothing was run, the report says so and is never green.
func TestAnErrorDocumentHasAReport(t *testing.T) {
	t.Parallel()
	doc := []byte(`{"error":{"type":"bridge_failure","message":"no engine ::error::x","details":[{"path":"/a","message":"m"}],"hint":"start it"}}`)
	for _, f := range Formats() {
		text, err := Write(f, doc, 0)
		if err != nil {
			t.Fatal(err)
		}
		if f.Name != "sarif" && (!strings.Contains(string(text), "bridge_failure") || !strings.Contains(string(text), "start it")) {
			t.Errorf("%s: %s", f.Name, text)
		}
		if f.Name == "junit" && !strings.Contains(string(text), `errors="1"`) {
			t.Errorf("%s", text)
		}
	}
	for _, bad := range []string{"", "[]", "{}", `{"status":"success"}`} {
		if _, err := Write(Formats()[0], []byte(bad), 0); err == nil {
			t.Errorf("%q has a report", bad)
		}
	}
}

func FuzzHarmlessTextHasNoCommand(f *testing.F) {
	for _, a := range attacks {
		f.Add(a)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if m := commandOfAService.FindString(Harmless(s)); m != "" {
			t.Errorf("%q gives %q", s, m)
		}
	})
}
