package runner

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sandboxrun/agents"
	"sandboxrun/runner/document"
	"sandboxrun/runner/journal"
	"sandboxrun/schemas"
)

// eventTypes has the data types of every kind of event but raw.
var eventTypes = map[string][]any{
	journal.EventRunStarted: {journal.RunStarted{}}, journal.EventRunEnded: {journal.RunEnded{}}, journal.EventPhaseStarted: {journal.PhaseStarted{}}, journal.EventPhaseEnded: {journal.PhaseEnded{}},
	journal.EventCommandOutput: {journal.CommandOutput{}, agents.CommandOutput{}}, journal.EventFileChanged: {journal.FileChanged{}}, journal.EventEgressDenied: {journal.EgressDenied{}},
	journal.EventUsage: {journal.BrokerUsage{}, journal.ProxyUsage{}, agents.Usage{}}, journal.EventLimitReached: {journal.LimitReached{}},
	journal.EventApprovalAsked: {journal.ApprovalAsked{}}, journal.EventApprovalAnswered: {journal.ApprovalAnswered{}}, journal.EventTruncated: {journal.Truncated{}, agents.Truncated{}},
	journal.EventSystemMessage: {journal.SystemMessage{}, agents.Message{}}, journal.EventErrorMessage: {agents.Message{}},
	string(agents.KindUserMessage): {agents.Message{}}, string(agents.KindAssistantMessage): {agents.Message{}},
	string(agents.KindThinking): {agents.Message{}}, string(agents.KindToolCall): {agents.ToolCall{}}, string(agents.KindToolResult): {agents.ToolResult{}},
}

// Writers and readers share the types; the schema must name the same fields.
func TestTheEventSchemaHasTheFieldsOfTheTypes(t *testing.T) {
	t.Parallel()
	var doc struct {
		AllOf []struct {
			If struct {
				Properties struct {
					Kind struct {
						Const string   `json:"const"`
						Enum  []string `json:"enum"`
					} `json:"kind"`
				} `json:"properties"`
			} `json:"if"`
			Then struct {
				Properties struct {
					Data struct {
						Properties map[string]any `json:"properties"`
					} `json:"data"`
				} `json:"properties"`
			} `json:"then"`
		} `json:"allOf"`
	}
	if err := json.Unmarshal(schemas.Event(), &doc); err != nil {
		t.Fatal(err)
	}
	described := map[string][]string{}
	for _, branch := range doc.AllOf {
		for _, kind := range append(branch.If.Properties.Kind.Enum, branch.If.Properties.Kind.Const) {
			for field := range branch.Then.Properties.Data.Properties {
				described[kind] = append(described[kind], field)
			}
			slices.Sort(described[kind])
		}
	}
	for kind, types := range eventTypes {
		var fields []string
		for _, data := range types {
			if own, ok := data.(journal.EventData); ok && own.EventKind() != kind {
				t.Errorf("%T is of kind %s, not %s", data, own.EventKind(), kind)
			}
			fields = append(fields, jsonFields(reflect.TypeOf(data))...)
		}
		slices.Sort(fields)
		fields = slices.Compact(fields)
		if strings.HasSuffix(kind, "_message") || kind == string(agents.KindThinking) {
			fields = jsonFields(reflect.TypeFor[agents.Message]()) // one branch for all messages
			slices.Sort(fields)
		}
		if !slices.Equal(fields, described[kind]) {
			t.Errorf("%s: the types have %v, the schema %v", kind, fields, described[kind])
		}
	}
}

func jsonFields(typ reflect.Type) (names []string) {
	for f := range typ.Fields() {
		if f.Anonymous {
			names = append(names, jsonFields(f.Type)...)
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

func TestARefusedPrivateAddressIsNamedInTheAdvice(t *testing.T) {
	t.Parallel()
	const known = "add hosts that setup commands need to box.network.allow"
	const private = "db.test:5432 stands for the private address 10.0.0.5"
	for name, tt := range map[string]struct {
		names, private []string
		has, not       []string
	}{
		"private":  {[]string{"db.test:5432"}, []string{private}, []string{private, "allow_private"}, []string{known}},
		"not open": {[]string{"example.com:443"}, nil, []string{known}, []string{"allow_private"}},
		"both":     {[]string{"db.test:5432", "example.com:443"}, []string{private}, []string{known, private, "allow_private"}, nil},
	} {
		i := deniedIssue(tt.names, tt.private)
		if i.Code != document.CodeEgressDenied || i.severity != document.SeverityNote || !strings.Contains(i.Description, strings.Join(tt.names, ", ")) {
			t.Errorf("%s: %+v", name, i)
		}
		for _, text := range tt.has {
			if !strings.Contains(i.SuggestedAction, text) {
				t.Errorf("%s: the advice %q does not say %q", name, i.SuggestedAction, text)
			}
		}
		for _, text := range tt.not {
			if strings.Contains(i.SuggestedAction, text) {
				t.Errorf("%s: the advice %q says %q", name, i.SuggestedAction, text)
			}
		}
	}
}
