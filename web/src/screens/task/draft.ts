import { remember, remembered } from '../../lib/prefs';

/** A task as it is sent; the form knows some of its fields and leaves the others as they are. */
export interface Task {
  objective?: string; instructions?: string; execution_mode?: string;
  context?: { repo_root?: string; base?: string; include_dirty?: boolean; [more: string]: unknown };
  agent?: string | { name?: string; variant?: string; model?: string; [more: string]: unknown };
  acceptance_criteria?: unknown[]; constraints?: unknown[]; suggested_commands?: string[]; setup_commands?: string[]; protected_paths?: string[];
  max_runtime_seconds?: number; baseline?: boolean; approvals?: { policy?: string; [more: string]: unknown };
  box?: { network?: { allow?: string[] }; [more: string]: unknown };
  [more: string]: unknown;
}

/** What was begun and not sent, kept in this browser. json is the text while it is edited and cannot be read. */
export interface Draft { task: Task; more: string[]; json?: string }

const empty: Draft = { task: { execution_mode: 'code' }, more: [] };

export function loadDraft(): Draft { return remembered<Draft>('draft', empty); }

export function keepDraft(d: Draft | undefined): void { remember('draft', d ?? null); }

/** agentOf is the agent of a task in its long form. */
export function agentOf(t: Task): { name: string; variant: string; model: string } {
  const a = typeof t.agent === 'string' ? { name: t.agent } : t.agent ?? {};
  return { name: a.name ?? '', variant: ('variant' in a && a.variant) || '', model: ('model' in a && a.model) || '' };
}

/** without drops what is empty, so that a task says only what somebody chose. */
export function without(t: Task): Task {
  const out: Task = {};
  for (const [name, value] of Object.entries(t)) {
    if (value === '' || value === undefined || value === null || (Array.isArray(value) && value.length === 0)) continue;
    out[name] = typeof value === 'object' && !Array.isArray(value) ? without(value as Task) : value;
    if (typeof value === 'object' && !Array.isArray(value) && Object.keys(out[name] as object).length === 0) delete out[name];
  }
  return out;
}

/** linesOf writes criteria or constraints a line each: "$ command", a sentence, or JSON for everything else. */
export function linesOf(list: unknown[] | undefined): string {
  return (list ?? []).map((c) => {
    if (typeof c === 'string') return c;
    const keys = Object.keys(c as object);
    const { command } = c as { command?: unknown };
    if (typeof command === 'string' && keys.length === 1 && !command.includes('\n')) return '$ ' + command;
    return JSON.stringify(c);
  }).join('\n');
}

/** fromLines reads what linesOf writes. A line that looks like JSON and is none stays a sentence, which the plan shows. */
export function fromLines(text: string): unknown[] {
  return text.split('\n').map((l) => l.trim()).filter((l) => l !== '').map((l) => {
    if (l.startsWith('$ ')) return { command: l.slice(2).trim() };
    if (l.startsWith('{')) { try { return JSON.parse(l) as unknown; } catch { return l; } }
    return l;
  });
}

export function plainLines(text: string): string[] { return text.split('\n').map((l) => l.trim()).filter((l) => l !== ''); }

/** lineOf finds the line of a JSON text that a pointer leads to; 0 when it leads nowhere. */
export function lineOf(text: string, pointer: string): number {
  const parts = pointer.split('/').slice(1).map((p) => p.replace(/~1/g, '/').replace(/~0/g, '~'));
  let at = 0;
  for (const part of parts) {
    const next = step(text, at, part);
    if (next < 0) break;
    at = next;
  }
  return text.slice(0, at).split('\n').length;
}

/** step goes from the beginning of a value to the beginning of one of its members. */
function step(text: string, from: number, part: string): number {
  let depth = 0, index = 0, key = '';
  let list = false;
  for (let i = from; i < text.length; i++) {
    const c = text[i];
    if (c === '"') {
      const end = stringEnd(text, i);
      if (depth === 1 && !list && /^\s*:/.test(text.slice(end))) {
        try { key = JSON.parse(text.slice(i, end)) as string; } catch { return -1; }
        if (key === part) return text.slice(end).search(/:\s*/) + end + 1 + (/^\s*/.exec(text.slice(text.indexOf(':', end) + 1))?.[0].length ?? 0);
      } else if (depth === 1 && list && String(index) === part) return i;
      i = end - 1;
    } else if (c === '{' || c === '[') {
      if (depth === 1 && list && String(index) === part) return i;
      depth++;
      if (depth === 1) list = c === '[';
    } else if (c === '}' || c === ']') {
      if (--depth <= 0) return -1;
    } else if (c === ',' && depth === 1) index++;
    else if (depth === 1 && list && String(index) === part && c !== undefined && /\S/.test(c)) return i;
  }
  return -1;
}

function stringEnd(text: string, from: number): number {
  for (let i = from + 1; i < text.length; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === '"') return i + 1;
  }
  return text.length;
}
