package modelserver

import (
	"reflect"
	"testing"
)

func TestResponsesCallsToolsAsTheyWereOffered(t *testing.T) {
	t.Parallel()
	sp := speakers()[1]
	body := []byte(`{"model":"m","stream":true,"input":[{"role":"user","content":"go"},
		{"type":"additional_tools","tools":[{"type":"namespace","name":"functions","tools":[{"type":"custom","name":"exec"}]}]},
		{"type":"custom_tool_call","call_id":"c1","name":"exec","input":"1"},
		{"type":"custom_tool_call_output","call_id":"c1","output":[{"type":"input_text","text":"one"}]},
		{"type":"tool_search_call","call_id":"s1","arguments":{"query":"x"}}],
		"tools":[{"type":"function","name":"shell"},{"type":"custom","name":"apply_patch"},{"type":"web_search"},
		{"type":"namespace","name":"mcp__demo","tools":[{"type":"function","name":"ping"}]}]}`)
	step := Step{Tools: []ToolUse{
		Tool("shell", map[string]string{"input": "ls"}), Tool("apply_patch", "*** Begin Patch\n"), Tool("exec", map[string]string{"input": "text(1)"}),
		Tool("ping", map[string]any{}), Tool("hidden", "free"), Tool("unknown", map[string]int{"a": 1}),
	}, Times: 2}
	s := start(t, step)
	got := sp.hear(t, post(t, s, "/v1/responses", body))
	var args []string
	for _, c := range got.calls {
		args = append(args, c.args)
	}
	if want := []string{`{"input":"ls"}`, "*** Begin Patch\n", "text(1)", "{}", "free", `{"a":1}`}; !reflect.DeepEqual(args, want) {
		t.Errorf("inputs = %q, want %q", args, want)
	}

	events, err := readEvents(post(t, s, "/v1/responses", body).Body)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]string{}
	for i, e := range events {
		if number(e["sequence_number"]) != i {
			t.Errorf("event %d has number %v", i, e["sequence_number"])
		}
		if item := object(e["item"]); e["type"] == "response.output_item.done" {
			kinds[str(item["name"])] = str(item["type"]) + "/" + str(item["namespace"])
		}
	}
	if want := map[string]string{
		"shell": "function_call/", "apply_patch": "custom_tool_call/", "exec": "custom_tool_call/functions",
		"ping": "function_call/mcp__demo", "hidden": "custom_tool_call/", "unknown": "function_call/",
	}; !reflect.DeepEqual(kinds, want) {
		t.Errorf("calls = %v, want %v", kinds, want)
	}
	r := s.Requests()[0]
	if want := []string{"shell", "apply_patch", "web_search", "ping", "exec"}; !reflect.DeepEqual(r.Tools, want) || !r.Main ||
		!reflect.DeepEqual(r.Results, []Result{{ID: "c1", Text: "one"}}) {
		t.Errorf("request = %+v", r)
	}
}
