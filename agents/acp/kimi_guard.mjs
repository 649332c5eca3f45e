// Kimi Code writes files in the tree of a repository without asking, and no
// setting of its present version keeps it from that: its rules of permission are
// read and never used. This file is loaded before the program and takes that
// policy out of it, so that the program's last policy, to ask, decides. It fails
// where the policy is not found, and says on the protocol that it was.
import { registerHooks } from "node:module";
import { isMainThread } from "node:worker_threads";
import { writeSync } from "node:fs";

delete process.env.NODE_OPTIONS; // commands of the agent are no concern of this file

const policy = 'name = "git-cwd-write-approve";';

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    if (!isMainThread || !url.endsWith("/dist/main.mjs")) return loaded;
    const parts = String(loaded.source instanceof Uint8Array ? new TextDecoder().decode(loaded.source) : loaded.source).split(policy);
    if (parts.length !== 2) throw new Error("sandboxrun: this version of Kimi Code cannot be made to ask before it writes");
    writeSync(1, JSON.stringify({ jsonrpc: "2.0", method: "sandboxrun/guarded" }) + "\n");
    return { ...loaded, source: parts.join(policy + " evaluate = () => undefined;") };
  },
});
