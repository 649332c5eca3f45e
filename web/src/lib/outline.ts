import { get } from './api';
import type { FileChange, RunEvent } from './types';

/** A phase of a run: what it did, in order. */
export interface PhaseOutline { phase: string; seq: number; began: string; ms?: number; error?: string; calls: { seq: number; title: string; kind: string }[]; dropped: number }

/** What is known of a run besides its text: phases with tool calls, and files as they appear. */
export interface Outline { phases: PhaseOutline[]; files: FileChange[] }

const kinds = ['phase_started', 'phase_ended', 'tool_call', 'command_output', 'limit_reached', 'file_changed', 'approval_asked'];
const mostCalls = 150;
const mostFiles = 500;

export async function readOutline(run: string, signal: AbortSignal): Promise<Outline> {
  // Phases are few and all of them matter; of the rest the newest.
  const address = '/api/runs/' + run + '/events?before=9007199254740991&kinds=';
  const [phases, rest] = await Promise.all([
    get<{ events: RunEvent[] }>(address + 'phase_started,phase_ended&limit=200', signal),
    get<{ events: RunEvent[] }>(address + kinds.slice(2).join(',') + '&limit=500', signal),
  ]);
  const outline: Outline = { phases: [], files: [] };
  return extend(outline, [...phases.events, ...rest.events].sort((a, b) => a.seq - b.seq));
}

/** extend returns an outline with more events. */
export function extend(old: Outline, events: RunEvent[]): Outline {
  if (!events.some((e) => kinds.includes(e.kind))) return old;
  const out: Outline = { phases: old.phases.map((p) => ({ ...p, calls: [...p.calls] })), files: [...old.files] };
  for (const e of events) {
    let at = [...out.phases].reverse().find((p) => p.phase === e.phase);
    switch (e.kind) {
      case 'phase_started':
        if (!at || at.seq < e.seq) out.phases.push({ phase: e.phase, seq: e.seq, began: e.time, calls: [], dropped: 0 });
        break;
      case 'phase_ended':
        if (at) {
          at.ms = Number(e.data['duration_ms'] ?? 0);
          if (typeof e.data['error'] === 'string') at.error = e.data['error'];
        }
        break;
      case 'file_changed':
        if (out.files.length < mostFiles) out.files.push(e.data as unknown as FileChange);
        break;
      default:
        if (e.kind === 'command_output' && e.data['source'] !== 'runner') break;
        at?.calls.push({ seq: e.seq, title: titleOf(e), kind: e.kind });
        if (at && at.calls.length > mostCalls) { at.calls.shift(); at.dropped++; }
    }
  }
  return out;
}

/** titleOf says in one line what an event is about. */
export function titleOf(e: RunEvent): string {
  const d = e.data;
  switch (e.kind) {
    case 'tool_call': case 'approval_asked': {
      const input = d['input'];
      const first = typeof input === 'object' && input !== null ? firstOf(input as Record<string, unknown>) : typeof input === 'string' ? input : '';
      return clip(String(d['tool'] ?? 'tool') + (first === '' ? '' : ' ' + first));
    }
    case 'command_output': return clip('$ ' + String(d['command'] ?? ''));
    case 'limit_reached': return 'limit of ' + String(d['limit'] ?? '');
  }
  return clip(String(d['text'] ?? d['name'] ?? d['summary'] ?? d['path'] ?? ''));
}

/** The one word of a tool's input that tells most. */
function firstOf(input: Record<string, unknown>): string {
  for (const name of ['command', 'cmd', 'file_path', 'filePath', 'path', 'pattern', 'query', 'url', 'description', 'prompt']) {
    const value = input[name];
    if (typeof value === 'string') return value;
    if (Array.isArray(value)) return value.join(' ');
  }
  return '';
}

function clip(text: string): string {
  const line = text.slice(0, 400).replace(/\s+/g, ' ').trim();
  return line.length > 120 ? line.slice(0, 119) + '…' : line;
}
