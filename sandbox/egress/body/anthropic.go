package body

// Anthropic is the body of the Messages API and of its count of tokens. Source: the API reference and the requests that
// the agents' programs make.
var Anthropic = &Form{top: anthropicRequest()}

func anthropicRequest() *rule {
	blocks := anthropicBlocks()
	return object(fields{
		"model":              model,
		"messages":           list(object(fields{"role": texts("user", "assistant", "system"), "content": text.or(blocks), "id": text, "output_config": anything})),
		"system":             text.or(blocks),
		"max_tokens":         output,
		"stream":             flag,
		"stop_sequences":     list(text),
		"temperature":        number,
		"top_k":              number,
		"top_p":              number,
		"thinking":           anything,
		"metadata":           object(fields{"user_id": text}),
		"tools":              list(anthropicTool()),
		"tool_choice":        anything,
		"cache_control":      anything,
		"context_management": anything, // what of the conversation the model still reads
		"output_config":      anything, // effort and the form of the answer
		"output_format":      anything,
		"safeguards":         anything, // what the provider looks for in the conversation itself
		"service_tier":       texts("auto", "standard_only"),
		"speed":              texts("standard").with(ServiceTier, "fast"),
		"inference_geo":      need(ServiceTier),
		"container":          need(CodeExecution),
		"mcp_servers":        need(RemoteMCP),
		"fallbacks":          need(AnyModel),
	}).requires("model", AnyModel)
}

// anthropicBlocks are the content blocks of messages, of results of tools and of documents.
func anthropicBlocks() *rule {
	block := &rule{kinds: isObject}
	blocks := list(block)
	block.fields = fields{
		"type": texts("text", "image", "document", "tool_use", "tool_result", "thinking", "redacted_thinking",
			"tool_reference", "tool_search_tool_search_result", "tool_search_tool_result", "compaction").
			with(WebSearch, "server_tool_use", "web_search_*", "web_fetch_*").
			with(CodeExecution, "server_tool_use", "code_execution_*", "bash_code_execution_*", "text_editor_code_execution_*").
			with(RemoteMCP, "mcp_tool_use", "mcp_tool_result").
			with(Files, "container_upload"),
		"text":          text,
		"id":            text,
		"name":          text,
		"input":         anything,
		"caller":        anything,
		"tool_use_id":   text,
		"tool_name":     text,
		"content":       text.or(blocks),
		"is_error":      flag,
		"thinking":      text,
		"signature":     text,
		"data":          text,
		"title":         text,
		"context":       text,
		"citations":     anything,
		"cache_control": anything,
		"source": object(fields{
			"type":       texts("base64", "text", "content").with(URLSources, "url").with(Files, "file"),
			"media_type": text,
			"data":       text,
			"content":    text.or(blocks),
			"url":        dataURL,
			"file_id":    need(Files),
		}),
		// Results of the provider's own tools, in the conversations of runs that were granted them.
		"url":               need(WebSearch),
		"page_age":          need(WebSearch),
		"encrypted_content": need(WebSearch),
		"server_name":       need(RemoteMCP),
		"file_id":           need(Files),
	}
	return blocks
}

// anthropicTool is a tool of the client: one with a schema, or one that the provider describes and the client runs.
func anthropicTool() *rule {
	return object(fields{
		"type": texts("custom", "bash_*", "text_editor_*", "computer_*", "memory_*", "tool_search_tool_*").
			with(WebSearch, "web_search_*", "web_fetch_*").
			with(CodeExecution, "code_execution_*").
			with(RemoteMCP, "mcp_toolset").
			with(AnyModel, "advisor_*"),
		"name":                  text,
		"description":           text,
		"input_schema":          anything,
		"input_examples":        anything,
		"strict":                flag,
		"defer_loading":         flag,
		"eager_input_streaming": flag,
		"cache_control":         anything,
		"allowed_callers":       list(texts("direct").with(CodeExecution, "code_execution_*")),
		"max_characters":        number,
		"display_width_px":      number,
		"display_height_px":     number,
		"display_number":        number,
		"enable_zoom":           flag,
		"max_uses":              need(WebSearch),
		"max_content_tokens":    need(WebSearch),
		"allowed_domains":       need(WebSearch),
		"blocked_domains":       need(WebSearch),
		"user_location":         need(WebSearch),
		"citations":             need(WebSearch),
		"mcp_server_name":       need(RemoteMCP),
		"default_config":        need(RemoteMCP),
		"configs":               need(RemoteMCP),
		"model":                 need(AnyModel),
	})
}

// AnthropicBetas are the values of the header Anthropic-Beta. Each changes what a body may hold, or how it is answered.
var AnthropicBetas = header("Anthropic-Beta",
	"claude-code-*", "oauth-*", "interleaved-thinking-*", "fine-grained-tool-streaming-*", "prompt-caching-*", "extended-cache-ttl-*",
	"context-management-*", "context-1m-*", "effort-*", "structured-outputs-*", "token-counting-*", "token-efficient-tools-*",
	"output-128k-*", "max-tokens-*", "computer-use-*", "advanced-tool-use-*", "tool-search-tool-*", "tool-examples-*", "redact-thinking-*",
	"pdfs-*", "model-context-window-exceeded-*", "compact-*", "adaptive-thinking-*", "task-budgets-*", "mid-conversation-*", "per-turn-control-*", "dangerous-tool-use-*",
	"thinking-*", "cache-diagnosis-*", "context-hint-*", "afk-mode-*", "summarize-connector-text-*", "cli-internal-*",
).with(RemoteMCP, "mcp-client-*", "mcp-servers-*", "mcp-tunnels-*").
	with(Files, "files-api-*").
	with(CodeExecution, "code-execution-*", "skills-*").
	with(WebSearch, "web-search-*", "web-fetch-*").
	with(ServiceTier, "fast-mode-*").
	with(AnyModel, "advisor-tool-*", "server-side-fallback-*")
