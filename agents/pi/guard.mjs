// What this program adds to Pi, which asks nobody for permission, has no question for its user and starts no MCP servers: a
// gate before every tool that does more than look, the tool ask_user, and the servers of the task. A line above this one holds
// the constant `setup` of the turn: its servers, for how long they are waited for, and how much one of their results may hold.
import { VERSION } from "@earendil-works/pi-coding-agent";

// What only looks is not asked for; ask_user asks by itself.
const free = new Set(["read", "grep", "find", "ls", "ask_user"]);

const questions = {
  type: "object", required: ["questions"],
  properties: { questions: { type: "array", minItems: 1, items: {
    type: "object", required: ["question"],
    properties: {
      question: { type: "string" },
      options: { type: "array", description: "answers to choose from; none for any words",
        items: { type: "object", required: ["label"], properties: { label: { type: "string" }, description: { type: "string" } } } },
      multiple: { type: "boolean", description: "whether several options may be chosen" },
    },
  } } },
};

// ask waits for the answer of the program outside. Whatever is no answer denies.
async function ask(ctx, what, about) {
  const answer = await ctx.ui.editor(what, JSON.stringify(about));
  return answer ? JSON.parse(answer) : {};
}

export default function (pi) {
  const clients = [];
  let running = 0, pulse;

  pi.on("session_start", async (_event, ctx) => {
    const failed = await connect(pi, clients);
    ctx.ui.setStatus("sandboxrun.ready", JSON.stringify({ version: VERSION, failed }));
  });
  pi.on("session_shutdown", () => Promise.allSettled(clients.map((c) => c.close())));

  pi.on("tool_call", async (event, ctx) => {
    if (free.has(event.toolName)) return;
    const answer = await ask(ctx, "sandboxrun.approve", { id: event.toolCallId, tool: event.toolName, input: event.input });
    if (answer.allow !== true) return { block: true, reason: answer.reason || "denied" };
  });

  // A command that prints nothing is not a program that hangs.
  pi.on("tool_execution_start", (_event, ctx) => {
    running++;
    pulse ??= setInterval(() => ctx.ui.setStatus("sandboxrun.working", String(running)), 10_000);
  });
  pi.on("tool_execution_end", () => {
    if (--running > 0) return;
    clearInterval(pulse);
    pulse = undefined;
  });

  pi.registerTool({
    name: "ask_user", label: "ask_user", parameters: questions,
    description: "Ask the user what only they can decide. There may be nobody to answer: then decide by yourself.",
    promptSnippet: "Ask the user what only they can decide",
    async execute(id, params, _signal, _onUpdate, ctx) {
      const answer = await ask(ctx, "sandboxrun.ask", { id, questions: params.questions });
      if (answer.allow !== true) throw new Error(answer.reason || "nobody answers");
      const lines = params.questions.map((q, i) => `${q.question}\n${(answer.answers?.[i] ?? []).join(", ")}`);
      return { content: [{ type: "text", text: lines.join("\n\n") }], details: {} };
    },
  });
}

// connect starts the servers of the task and lists those that do not answer.
async function connect(pi, clients) {
  const failed = [];
  const names = Object.keys(setup.servers);
  if (names.length === 0) return failed;
  const { Client } = await import(`${setup.sdk}/index.js`);
  await Promise.all(names.map(async (name) => {
    const client = new Client({ name: "pi", version: VERSION });
    let timer;
    const late = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error("it did not answer")), setup.wait); });
    try {
      const list = await Promise.race([late, tools(client, setup.servers[name])]);
      clients.push(client);
      for (const tool of list) register(pi, client, name, tool);
    } catch (error) {
      failed.push({ name, why: String(error?.message ?? error) });
      client.close().catch(() => {}); // it is reported already
    } finally {
      clearTimeout(timer);
    }
  }));
  return failed;
}

async function tools(client, server) {
  if (server.url) {
    const { StreamableHTTPClientTransport } = await import(`${setup.sdk}/streamableHttp.js`);
    await client.connect(new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers: server.headers ?? {} } }));
  } else {
    const { StdioClientTransport } = await import(`${setup.sdk}/stdio.js`);
    await client.connect(new StdioClientTransport({ command: server.command, args: server.args ?? [], env: { ...process.env, ...server.env }, stderr: "ignore" }));
  }
  const list = [];
  let cursor;
  do {
    const page = await client.listTools({ cursor });
    list.push(...page.tools);
    cursor = page.nextCursor;
  } while (cursor && list.length < 1000);
  return list;
}

function register(pi, client, server, tool) {
  const name = `mcp__${server}__${tool.name}`.replace(/[^A-Za-z0-9_]/g, "_").slice(0, 64);
  pi.registerTool({
    name, label: name, description: tool.description ?? "", promptSnippet: (tool.description ?? "").split("\n")[0].slice(0, 200), parameters: tool.inputSchema,
    async execute(_id, params, signal) {
      const result = await client.callTool({ name: tool.name, arguments: params }, undefined, { signal, timeout: 600_000 });
      let room = setup.most, pictures = 8 * setup.most; // no character of a picture is escaped
      const content = [];
      for (const c of result.content ?? []) {
        if (c.type === "image" && c.data.length <= pictures) {
          content.push({ type: "image", data: c.data, mimeType: c.mimeType });
          pictures -= c.data.length;
          continue;
        }
        const text = c.type === "text" ? c.text : c.type === "image" ? `[an image of ${c.data.length} bytes is left out]` : JSON.stringify(c);
        content.push({ type: "text", text: cut(text, room) });
        room = Math.max(0, room - text.length);
      }
      if (result.isError) throw new Error(content.map((c) => c.text ?? "").join("\n") || "the tool failed");
      return { content, details: {} };
    },
  });
}

// cut bounds what a server says: a frame that is too long is lost, and the call with it.
function cut(text, room) {
  return text.length <= room ? text : `${text.slice(0, room)}\n[${text.length - room} characters are left out]`;
}
