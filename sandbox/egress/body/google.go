package body

// Google is the body of the Gemini API's generateContent and streamGenerateContent, GoogleCount that of countTokens.
// The model is in the path. Source: the API reference and the requests that the agents' programs make. The API takes
// each key in a second spelling, with underscores: it is not listed, so nothing can be said twice.
var (
	Google      = &Form{top: object(googleRequest())}
	GoogleCount = &Form{top: googleCount()}
)

func googleRequest() fields {
	content := googleContent()
	return fields{
		"contents":          text.or(content).or(list(content)),
		"systemInstruction": text.or(content),
		"tools":             list(googleTool()),
		"toolConfig":        object(fields{"functionCallingConfig": anything, "retrievalConfig": need(WebSearch), "includeServerSideToolInvocations": need(WebSearch)}),
		"safetySettings":    anything,
		"generationConfig":  googleGeneration(),
		"labels":            &rule{kinds: isObject | isNull},
		"cachedContent":     need(Stored),
		"store":             unstored,
		"serviceTier":       texts("standard", "flex", "unspecified").with(ServiceTier, "*"),
	}
}

func googleCount() *rule {
	whole := googleRequest()
	whole["model"] = model
	count := googleRequest()
	count["generateContentRequest"] = object(whole)
	return object(count)
}

func googleGeneration() *rule {
	return object(fields{
		"maxOutputTokens":            output,
		"candidateCount":             one,
		"temperature":                number,
		"topP":                       number,
		"topK":                       number,
		"seed":                       number,
		"presencePenalty":            number,
		"frequencyPenalty":           number,
		"stopSequences":              list(text),
		"responseMimeType":           text,
		"responseSchema":             anything,
		"responseJsonSchema":         anything,
		"_responseJsonSchema":        anything,
		"responseModalities":         list(texts("TEXT").with(ImageGeneration, "IMAGE")),
		"responseLogprobs":           flag,
		"logprobs":                   number,
		"thinkingConfig":             anything,
		"mediaResolution":            text,
		"enableEnhancedCivicAnswers": flag,
	})
}

func googleContent() *rule {
	media := object(fields{"mimeType": text, "data": text, "displayName": text})
	file := need(Files).is(isObject)
	part := object(fields{
		"text":             text,
		"thought":          flag,
		"thoughtSignature": text,
		"inlineData":       media,
		"fileData":         file, // an upload of the organisation, or a URL
		"functionCall":     object(fields{"id": text, "name": text, "args": anything, "willContinue": flag, "partialArgs": anything}),
		"functionResponse": object(fields{"id": text, "name": text, "response": anything, "willContinue": flag, "scheduling": text,
			"parts": list(object(fields{"inlineData": media, "fileData": file}))}),
		"videoMetadata":       anything,
		"mediaResolution":     anything,
		"partMetadata":        anything,
		"executableCode":      need(CodeExecution),
		"codeExecutionResult": need(CodeExecution),
		"toolCall":            need(WebSearch),
		"toolResponse":        need(WebSearch),
	})
	return object(fields{"role": text, "parts": text.or(part).or(list(part))})
}

func googleTool() *rule {
	return object(fields{
		"functionDeclarations":  anything,
		"googleSearch":          need(WebSearch),
		"googleSearchRetrieval": need(WebSearch),
		"enterpriseWebSearch":   need(WebSearch),
		"urlContext":            need(WebSearch),
		"googleMaps":            need(WebSearch),
		"codeExecution":         need(CodeExecution),
		"retrieval":             need(Files),
		"fileSearch":            need(Files),
		"mcpServers":            need(RemoteMCP),
		"computerUse":           object(fields{"environment": text, "excludedPredefinedFunctions": anything}), // the client's
	})
}
