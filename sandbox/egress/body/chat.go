package body

// Chat is the body of the Chat Completions API, as OpenAI, gateways and model servers offer it. Source: the API
// reference and the requests that the agents' programs make.
var Chat = &Form{top: chatRequest()}

func chatRequest() *rule {
	return object(fields{
		"model":                  model,
		"messages":               list(chatMessage()),
		"tools":                  list(chatTool()),
		"tool_choice":            anything,
		"parallel_tool_calls":    flag,
		"functions":              anything, // the older form of tools, which are the client's
		"function_call":          anything,
		"stream":                 flag,
		"stream_options":         anything,
		"max_tokens":             output,
		"max_completion_tokens":  output,
		"n":                      one,
		"temperature":            number,
		"top_p":                  number,
		"top_k":                  number,
		"min_p":                  number,
		"presence_penalty":       number,
		"frequency_penalty":      number,
		"repetition_penalty":     number,
		"logit_bias":             anything,
		"logprobs":               flag,
		"top_logprobs":           number,
		"seed":                   number,
		"stop":                   text.or(list(text)),
		"response_format":        anything,
		"prediction":             anything,
		"modalities":             list(texts("text")),
		"reasoning_effort":       text,
		"reasoning":              anything,
		"reasoning_split":        flag,
		"thinking":               anything,
		"enable_thinking":        flag,
		"thinking_budget":        number,
		"verbosity":              text,
		"user":                   text,
		"safety_identifier":      text,
		"metadata":               &rule{kinds: isObject | isNull},
		"prompt_cache_key":       text,
		"prompt_cache_retention": text,
		"usage":                  anything,
		"store":                  unstored,
		"service_tier":           texts("auto", "default", "flex").with(ServiceTier, "*"),
		"web_search_options":     need(WebSearch),
		"plugins":                need(WebSearch),
		"models":                 need(AnyModel),
	}).requires("model", AnyModel)
}

func chatMessage() *rule {
	part := object(fields{
		"type":          texts("text", "image_url", "input_audio", "file", "refusal", "thinking", "video_url"),
		"text":          text,
		"refusal":       text,
		"thinking":      text,
		"image_url":     dataURL.or(object(fields{"url": dataURL, "detail": text, "format": text})),
		"video_url":     dataURL.or(object(fields{"url": dataURL})),
		"input_audio":   object(fields{"data": text, "format": text}),
		"file":          object(fields{"filename": text, "file_data": dataURL, "file_id": need(Files)}),
		"cache_control": anything,
	})
	return object(fields{
		"role":              texts("system", "developer", "user", "assistant", "tool", "function"),
		"content":           text.or(list(part)),
		"name":              text,
		"tool_call_id":      text,
		"tool_calls":        list(object(fields{"id": text, "index": number, "type": texts("function", "custom"), "function": anything, "custom": anything, "extra_content": anything})),
		"function_call":     anything,
		"refusal":           text,
		"annotations":       anything,
		"reasoning":         text,
		"reasoning_content": text,
		"reasoning_text":    text,
		"reasoning_opaque":  text,
		"reasoning_details": anything,
		"cache_control":     anything,
		"prefix":            flag,
		"partial":           flag,
		// Copilot CLI says of messages of a resumed conversation where they come from.
		"__copilotMessageSource": anything,
	})
}

func chatTool() *rule {
	return object(fields{
		"type": texts("function", "custom").
			with(WebSearch, "web_search*").
			with(RemoteMCP, "mcp").
			with(CodeExecution, "code_interpreter").
			with(Files, "file_search").
			with(ImageGeneration, "image_generation"),
		"function":      anything,
		"custom":        anything,
		"strict":        flag,
		"cache_control": anything,
	})
}
