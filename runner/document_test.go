package runner

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sandboxrun/agents"
	"sandboxrun/internal/wire"
	"sandboxrun/runner/check"
	"sandboxrun/runner/config"
	"sandboxrun/runner/document"
	"sandboxrun/runner/excerpt"
	"sandboxrun/runner/journal"
	"sandboxrun/runner/plan"
	"sandboxrun/runner/record"
	"sandboxrun/schemas"
	"sandboxrun/schemas/closed"
)

// fill sets every field of a struct to something that is not zero.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Date(2026, 1, 2, 3, 4, 5, 678_900_000, time.UTC)))
			return
		}
		for _, field := range v.Fields() {
			fill(field)
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte(`{"max":7}`))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		value := reflect.New(v.Type().Elem()).Elem()
		fill(value)
		v.SetMapIndex(reflect.ValueOf("agent"), value)
	case reflect.String:
		v.SetString("x")
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Float64:
		v.SetFloat(1.5)
	case reflect.Bool:
		v.SetBool(true)
	default:
		panic("cannot fill a " + v.Type().String())
	}
}

func fullResult() *document.Result {
	var r document.Result
	fill(reflect.ValueOf(&r).Elem())
	r.SchemaVersion, r.Status = document.SchemaVersion, document.StatusPartial
	r.FilesChanged[0].ChangeType, r.CommandsRun[0].Source = "added", "runner"
	r.Issues[0].Type, r.Issues[0].Code = document.IssueEnv, document.CodeNoChanges
	r.Constraints[0].Verdict, r.Acceptance[0].Verdict = string(check.Pass), string(check.Unverifiable)
	r.Constraints[0].Checks[0].Verdict, r.Acceptance[0].Checks[0].Verdict = string(check.Pass), string(check.Fail)
	r.Claims[0].Source, r.Claims[0].Says, r.Claims[0].Measured = document.ClaimOfTool, document.ClaimRan, document.ClaimPassed
	hash := strings.Repeat("0a", 20)
	r.Git.BaseCommit, r.Git.Tree, r.Git.Commit = hash, hash, hash
	r.Box.Layout, r.Box.Network.Mode, r.Box.Tier = "overlay", "none", "runc"
	r.Box.Network.Connections[0].Phase = "verify"
	r.Journal.SHA256 = strings.Repeat("0a", 32)
	return &r
}

func TestResultsKeepTheirSchema(t *testing.T) {
	t.Parallel()
	least := &document.Result{
		SchemaVersion: document.SchemaVersion, RunID: "r", Status: document.StatusFailed, FilesChanged: []document.FileChange{}, CommandsRun: []document.CommandRun{{Source: "agent"}},
		Logs: []string{}, Issues: []document.Issue{}, Constraints: []document.Judged{}, Acceptance: []document.Judged{}, Timing: map[string]int64{},
	}
	for name, r := range map[string]*document.Result{"full": fullResult(), "least": least} {
		doc, err := document.Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := closed.Validate("result", doc); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheSchemaRefusesResultsThatBreakTheRules(t *testing.T) {
	t.Parallel()
	breaks := map[string]func(*document.Result){
		"partial without an issue": func(r *document.Result) { r.Issues = []document.Issue{} },
		"unknown status":           func(r *document.Result) { r.Status = "done" },
		"null for a list":          func(r *document.Result) { r.Logs = nil },
		"short hash":               func(r *document.Result) { r.Git.Tree = "abc" },
		"networked box":            func(r *document.Result) { r.Box.Network.Mode = "bridge" },
		"issue without a code":     func(r *document.Result) { r.Issues[0].Code = "" },
	}
	for name, breakIt := range breaks {
		r := fullResult()
		breakIt(r)
		doc, err := document.Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := closed.Validate("result", doc); err == nil {
			t.Errorf("%s keeps the schema", name)
		}
	}
}

func TestEventKindsAreThoseOfTheSchema(t *testing.T) {
	t.Parallel()
	kinds := []string{
		journal.EventRunStarted, journal.EventRunEnded, journal.EventPhaseStarted, journal.EventPhaseEnded, journal.EventCommandOutput, journal.EventApprovalAsked, journal.EventApprovalAnswered,
		journal.EventUsage, journal.EventFileChanged, journal.EventEgressDenied, journal.EventLimitReached, journal.EventTruncated, journal.EventSystemMessage, journal.EventErrorMessage,
		string(agents.KindUserMessage), string(agents.KindAssistantMessage), string(agents.KindThinking), string(agents.KindToolCall),
		string(agents.KindToolResult), string(agents.KindRaw),
	}
	data := map[string]string{
		string(agents.KindToolCall):   mustJSON(t, agents.ToolCall{ID: "0", Action: agents.ActionMCP, Input: json.RawMessage("1")}),
		string(agents.KindToolResult): mustJSON(t, agents.ToolResult{ID: "0", Status: "denied"}),
		string(agents.KindRaw):        `[1]`,
	}
	for _, kind := range kinds {
		raw := json.RawMessage("{}")
		if d, ok := data[kind]; ok {
			raw = json.RawMessage(d)
		}
		doc := mustJSON(t, journal.Event{Seq: 1, Time: noon, Run: "r", Phase: "agent", Kind: kind, Data: raw})
		if err := closed.Validate("event", []byte(doc)); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
	for _, doc := range []string{
		`{"seq":1,"time":"2026-05-04T11:00:00.123Z","run":"r","phase":"agent","kind":"tool_call","data":{"id":1}}`,
		`{"seq":1,"time":"2026-05-04T11:00:00.1Z","run":"r","phase":"","kind":"raw","data":1}`,
		`{"seq":0,"time":"2026-05-04T11:00:00.123Z","run":"r","phase":"","kind":"raw","data":1}`,
		`{"seq":1,"time":"2026-05-04T11:00:00.123Z","run":"r","phase":"","kind":"news","data":{}}`,
	} {
		if err := closed.Validate("event", []byte(doc)); err == nil {
			t.Errorf("%s keeps the schema", doc)
		}
	}
}

func TestEveryPhaseIsInTheEventSchema(t *testing.T) {
	t.Parallel()
	for _, ph := range plan.Phases(true) {
		doc := mustJSON(t, journal.Event{Seq: 1, Time: noon, Run: "r", Phase: ph.Name, Kind: "raw"})
		if err := closed.Validate("event", []byte(doc)); err != nil {
			t.Errorf("%s: %v", ph.Name, err)
		}
	}
}

// The schema files are static; the registries they repeat are not.
func TestSchemasKnowWhatIsRegistered(t *testing.T) {
	t.Parallel()
	var settings map[string]any
	if err := json.Unmarshal(schemas.Config(), &settings); err != nil {
		t.Fatal(err)
	}
	providers := dig(t, settings, "properties", "providers", "properties")
	defaults := config.Default().Providers
	if d := cmp.Diff(slices.Sorted(maps.Keys(defaults)), slices.Sorted(maps.Keys(providers))); d != "" {
		t.Errorf("providers of the configuration (with Info.Vendor of agents) and of schemas/config.schema.json:\n%s", d)
	}
	for _, a := range agents.All() {
		info := a.Info()
		for _, name := range info.Providers {
			if _, ok := defaults[name]; !ok || providers[name] == nil {
				t.Errorf("the schema or the default configuration does not know provider %s of agent %s", name, info.Name)
			}
		}
		if _, _, err := config.Default().ProviderFor(info.Providers, info.Wires); err != nil {
			t.Errorf("agent %s, by default: %v", info.Name, err)
		}
	}
	var wires []wire.Wire
	for _, w := range dig(t, settings, "$defs", "provider", "properties", "wires", "items")["enum"].([]any) {
		wires = append(wires, wire.Wire(w.(string)))
	}
	if !slices.Equal(wires, wire.All()) {
		t.Errorf("schemas/config.schema.json knows the wires %v, internal/wire has %v", wires, wire.All())
	}
}

func dig(t *testing.T, node map[string]any, keys ...string) map[string]any {
	t.Helper()
	for _, k := range keys {
		next, ok := node[k].(map[string]any)
		if !ok {
			t.Fatalf("no %s in the schema", k)
		}
		node = next
	}
	return node
}

func TestAnUnknownSchemaIsAnError(t *testing.T) {
	t.Parallel()
	if err := closed.Validate("nothing", []byte("{}")); err == nil {
		t.Error("no error")
	}
}

func TestDocumentsHoldNoCharactersThatSteerATerminal(t *testing.T) {
	t.Parallel()
	text := "a\x1b[2J\u009b2J\u202eb\u2066c\u200d\U000e0041\U0010fffd\u2028é漢\U0001f600 <&>\x7f"
	doc, err := document.Encode(map[string]string{text: text})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range string(doc) {
		if r != '\n' && excerpt.Unseen(r) {
			t.Errorf("%U is in %q", r, doc)
		}
	}
	if !strings.Contains(string(doc), "é漢\U0001f600 <&>") {
		t.Errorf("harmless text was escaped: %s", doc)
	}
	var back map[string]string
	if err := json.Unmarshal(doc, &back); err != nil || back[text] != text {
		t.Errorf("%v: %q", err, back)
	}
}

var noon = time.Date(2026, 5, 4, 12, 0, 0, 123_999_999, time.FixedZone("x", 3600))

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// testLog is a log that nobody reads.
func testLog(t *testing.T) *record.Log {
	t.Helper()
	j, err := journal.Open(filepath.Join(t.TempDir(), "events.ndjson"), "run")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return record.NewLog(j, nil)
}
