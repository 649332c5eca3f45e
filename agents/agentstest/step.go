package agentstest

import "sandboxrun/agents/scripted/modelserver"

// Uses is a step in which the model calls tools.
func Uses(t ...modelserver.ToolUse) modelserver.Step { return modelserver.Step{Tools: t} }

// Failing is a step in which the provider answers with an error, times times, or
// always when times is negative.
func Failing(status int, kind, message string, times int) modelserver.Step {
	return modelserver.Step{Times: times, Fault: &modelserver.Fault{Status: status, Type: kind, Message: message}}
}

// EchoServer is an MCP server for node with one tool, echo, which answers with the
// words of GREETING and of its argument x.
const EchoServer = `import readline from "node:readline";
const say = (id, result) => console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
for await (const line of readline.createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") say(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "mini", version: "1" } });
  else if (method === "tools/list") say(id, { tools: [{ name: "echo", description: "echo", inputSchema: { type: "object", properties: { x: { type: "string" } } } }] });
  else if (method === "tools/call") say(id, { content: [{ type: "text", text: process.env.GREETING + " " + params.arguments.x }] });
  else if (id !== undefined) say(id, {});
}
`

// RecordServer is an MCP server for node with one tool, record, which writes its
// argument text and the word of WORD to a file of the workspace. It takes a
// moment to connect, as real servers do.
const RecordServer = `const say = (id, result) => console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
const schema = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") setTimeout(() => say(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "mine", version: "1" } }), 1500);
  else if (method === "tools/list") say(id, { tools: [{ name: "record", description: "records a text", inputSchema: schema }] });
  else if (method === "tools/call") {
    require("node:fs").writeFileSync("/workspace/recorded", process.env.WORD + " " + params.arguments.text + "\n");
    say(id, { content: [{ type: "text", text: "recorded it" }] });
  } else if (id !== undefined) say(id, {});
});
`
