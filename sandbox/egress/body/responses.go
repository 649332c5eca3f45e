package body

// Responses is the body of OpenAI's Responses API without server-side state. Source: the API reference and the
// requests that the agents' programs make.
var Responses = &Form{top: responsesRequest()}

func responsesRequest() *rule {
	return object(fields{
		"model":                  model,
		"input":                  text.or(list(responsesItem())),
		"instructions":           text,
		"tools":                  list(responsesTool()),
		"tool_choice":            anything,
		"parallel_tool_calls":    flag,
		"max_tool_calls":         number,
		"max_output_tokens":      output,
		"stream":                 flag,
		"stream_options":         anything,
		"include":                list(text), // of what the answer shows
		"reasoning":              anything,
		"text":                   anything,
		"temperature":            number,
		"top_p":                  number,
		"top_logprobs":           number,
		"truncation":             text,
		"user":                   text,
		"safety_identifier":      text,
		"metadata":               &rule{kinds: isObject | isNull},
		"client_metadata":        &rule{kinds: isObject | isNull},
		"prompt_cache_key":       text,
		"prompt_cache_retention": text,
		"context_management":     anything, // what of the conversation the model still reads
		"store":                  unstored,
		"background":             unstored,
		"previous_response_id":   need(Stored),
		"conversation":           need(Stored),
		"prompt":                 need(Stored), // a template that the organisation keeps
		"service_tier":           texts("auto", "default", "flex").with(ServiceTier, "*"),
		// The provider stores a response unless it is told not to.
	}).requires("model", AnyModel).requires("store", Stored)
}

// responsesItem is one item of the conversation. An item with an id and without a type would be a reference to one that
// the provider keeps.
func responsesItem() *rule {
	item := object(fields{
		"type": texts("message", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output", "reasoning",
			"local_shell_call", "local_shell_call_output", "shell_call", "shell_call_output", "apply_patch_call", "apply_patch_call_output",
			"computer_call", "computer_call_output", "tool_search_call", "tool_search_output", "compaction", "compaction_summary",
			"context_compaction", "compaction_trigger", "ghost_snapshot", "additional_tools").
			with(WebSearch, "web_search_call").
			with(RemoteMCP, "mcp_*").
			with(CodeExecution, "code_interpreter_call").
			with(Files, "file_search_call").
			with(ImageGeneration, "image_generation_call").
			with(Stored, "item_reference"),
		"id":                         text,
		"role":                       texts("system", "developer", "user", "assistant"),
		"content":                    text.or(list(responsesPart())),
		"status":                     text,
		"phase":                      text,
		"call_id":                    text,
		"name":                       text,
		"namespace":                  text,
		"arguments":                  anything,
		"input":                      text,
		"output":                     text.or(list(responsesPart())),
		"action":                     anything,
		"operation":                  anything,
		"summary":                    anything,
		"encrypted_content":          text,
		"execution":                  text,
		"tools":                      list(responsesTool()),
		"acknowledged_safety_checks": anything,
		"max_output_length":          number,
		"environment":                need(CodeExecution),
		"internal_chat_message_metadata_passthrough": anything,
	})
	item.needs = map[string]string{"id": "type"}
	return item
}

func responsesPart() *rule {
	return object(fields{
		"type": texts("input_text", "output_text", "text", "input_image", "input_file", "input_audio", "refusal", "summary_text",
			"reasoning_text", "computer_screenshot", "encrypted_content", "stdout", "stderr"),
		"text":                    text,
		"refusal":                 text,
		"annotations":             anything,
		"logprobs":                anything,
		"image_url":               dataURL,
		"file_url":                dataURL,
		"file_data":               dataURL,
		"prompt_cache_breakpoint": anything,
		"filename":                text,
		"detail":                  text,
		"input_audio":             object(fields{"data": text, "format": text}),
		"encrypted_content":       text,
		"file_id":                 need(Files),
		// Results of shell calls.
		"stdout":  text,
		"stderr":  text,
		"outcome": anything,
	})
}

func responsesTool() *rule {
	tool := &rule{kinds: isObject}
	tool.fields = fields{
		"type": texts("function", "custom", "local_shell", "shell", "apply_patch", "tool_search", "namespace", "computer*").
			with(WebSearch, "web_search*").
			with(RemoteMCP, "mcp").
			with(CodeExecution, "code_interpreter").
			with(Files, "file_search").
			with(ImageGeneration, "image_generation"),
		"name":            text,
		"description":     text,
		"parameters":      anything,
		"output_schema":   anything,
		"strict":          flag,
		"format":          anything,
		"defer_loading":   flag,
		"execution":       texts("client"),
		"tools":           list(tool),
		"display_width":   number,
		"display_height":  number,
		"display_number":  number,
		"allowed_callers": list(texts("direct").with(CodeExecution, "*")),
		// The shell of the client, not one in a container of the provider.
		"environment": object(fields{"type": texts("local").with(CodeExecution, "*"), "skills": need(CodeExecution), "container_id": need(CodeExecution),
			"file_ids": need(Files), "network_policy": need(CodeExecution), "memory_limit": need(CodeExecution)}),
		"container":              need(CodeExecution),
		"external_web_access":    flag, // of a web search, which its type decides about
		"index_gated_web_access": flag,
		"filters":                need(WebSearch),
		"user_location":          need(WebSearch),
		"search_context_size":    need(WebSearch),
		"search_content_types":   need(WebSearch),
		"server_label":           need(RemoteMCP),
		"server_url":             need(RemoteMCP),
		"server_description":     need(RemoteMCP),
		"connector_id":           need(RemoteMCP),
		"authorization":          need(RemoteMCP),
		"headers":                need(RemoteMCP),
		"allowed_tools":          need(RemoteMCP),
		"require_approval":       need(RemoteMCP),
		"vector_store_ids":       need(Files),
		"max_num_results":        need(Files),
		"ranking_options":        need(Files),
		"quality":                need(ImageGeneration),
		"size":                   need(ImageGeneration),
		"output_format":          need(ImageGeneration),
		"model":                  need(AnyModel),
	}
	return tool
}
