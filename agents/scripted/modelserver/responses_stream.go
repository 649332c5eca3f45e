package modelserver

// responseStream makes the events of an answer, in the order of
// https://platform.openai.com/docs/api-reference/responses-streaming.
type responseStream struct {
	list []event
}

func (s *responseStream) send(name string, last bool, data map[string]any) {
	data["type"], data["sequence_number"] = name, len(s.list)
	s.list = append(s.list, event{name: name, data: encode(data), last: last})
}

func (w responses) events(q question, a answer) []event {
	var s responseStream
	s.send("response.created", false, map[string]any{"response": w.object(q, a, nil)})
	s.send("response.in_progress", false, map[string]any{"response": w.object(q, a, nil)})
	output := []any{}
	for i, p := range w.parts(q, a) {
		open := w.item(q, a, i, p, "", "in_progress")
		s.send("response.output_item.added", false, map[string]any{"output_index": i, "item": open})
		s.block(i, open, p, i == len(a.parts)-1)
		whole := w.item(q, a, i, p, p.text, "completed")
		s.send("response.output_item.done", false, map[string]any{"output_index": i, "item": whole})
		output = append(output, whole)
	}
	end := "response.completed"
	if w.incomplete(a) != "" {
		end = "response.incomplete"
	}
	s.send(end, false, map[string]any{"response": w.object(q, a, output)})
	return s.list
}

// block sends what is inside of an item.
func (s *responseStream) block(index int, item map[string]any, p part, last bool) {
	// at adds where in the answer an event belongs.
	at := func(more map[string]any) map[string]any {
		more["item_id"], more["output_index"] = item["id"], index
		return more
	}
	switch p.kind {
	case thinkingPart:
		piece := func(text string) map[string]string { return map[string]string{"type": "summary_text", "text": text} }
		s.send("response.reasoning_summary_part.added", false, at(map[string]any{"summary_index": 0, "part": piece("")}))
		for _, d := range chunks(p.text) {
			s.send("response.reasoning_summary_text.delta", last, at(map[string]any{"summary_index": 0, "delta": d}))
		}
		s.send("response.reasoning_summary_text.done", false, at(map[string]any{"summary_index": 0, "text": p.text}))
		s.send("response.reasoning_summary_part.done", false, at(map[string]any{"summary_index": 0, "part": piece(p.text)}))
	case textPart:
		s.send("response.content_part.added", false, at(map[string]any{"content_index": 0, "part": outputText("")}))
		for _, d := range chunks(p.text) {
			s.send("response.output_text.delta", last, at(map[string]any{"content_index": 0, "delta": d, "logprobs": []any{}}))
		}
		s.send("response.output_text.done", false, at(map[string]any{"content_index": 0, "text": p.text, "logprobs": []any{}}))
		s.send("response.content_part.done", false, at(map[string]any{"content_index": 0, "part": outputText(p.text)}))
	case toolPart:
		name, member := "response.function_call_arguments", "arguments"
		if p.free {
			name, member = "response.custom_tool_call_input", "input"
		}
		for _, d := range chunks(p.text) {
			s.send(name+".delta", last, at(map[string]any{"delta": d}))
		}
		s.send(name+".done", false, at(map[string]any{member: p.text, "name": p.name}))
	}
}
