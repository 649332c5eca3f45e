import type { ComponentChildren, VNode } from 'preact';
import { memo } from '../../ui/memo';
import { useState } from 'preact/hooks';
import { bytes, clock, count, duration } from '../../lib/format';
import { titleOf } from '../../lib/outline';
import type { RunEvent } from '../../lib/types';
import { Output } from '../../ui/ansi';
import { Mark, type Tone } from '../../ui/status';
import { Path, Prose, Safe } from '../../ui/text';

const fold = 4096; // characters of a text that are shown at first

/** EventRow is one event: its time, who speaks, and what. */
export const EventRow = memo(function EventRow({ event, marked }: { event: RunEvent; marked: boolean }): VNode {
  const { who, body, tone } = shapeOf(event);
  return (
    <article class={'event k-' + cssName(event.kind) + (marked ? ' marked' : '')} data-testid="event-row" data-seq={event.seq}>
      <span class="event-time num" title={event.time + ', event ' + event.seq}>{clock(event.time)}</span>
      <span class="event-who">{tone && <Mark tone={tone} />}{who}</span>
      <div class="event-body">{body}</div>
    </article>
  );
});

/** Kinds come from the server, and later versions add others: only known letters become a class. */
function cssName(kind: string): string { return kind.replace(/[^a-z_]/g, ''); }

function shapeOf(e: RunEvent): { who: string; body: ComponentChildren; tone?: Tone } {
  const d = e.data ?? {};
  const text = String(d['text'] ?? '');
  switch (e.kind) {
    case 'user_message': return { who: 'task', body: <Folded text={text} show={(t) => <Prose text={t} />} /> };
    case 'assistant_message': return { who: 'agent', body: <Folded text={text} show={(t) => <Prose text={t} />} /> };
    case 'thinking': return { who: 'thinks', body: <Folded text={text} show={(t) => <p class="muted pre"><Safe text={t} /></p>} /> };
    case 'system_message': return { who: 'system', body: <p class="muted pre"><Safe text={text} /></p> };
    case 'error_message': return { who: 'error', tone: 'failed', body: <p class="pre"><Safe text={text} /></p> };
    case 'tool_call': return { who: 'calls', body: <Call event={e} /> };
    case 'tool_result': return { who: resultWord(d['status']), tone: d['status'] === 'ok' ? 'quiet' : 'failed', body: <Printed text={text} exit={d['exit_code']} /> };
    case 'command_output':
      return d['source'] === 'runner'
        ? { who: 'measured', tone: d['exit_code'] === 0 ? 'success' : 'failed', body: <Measured data={d} /> }
        : { who: 'output', body: <Printed text={text} exit={undefined} /> };
    case 'approval_asked': return { who: 'asks', tone: 'asking', body: <p><code class="line"><Safe text={titleOf(e)} /></code></p> };
    case 'approval_answered': return { who: d['allow'] === true ? 'allowed' : 'denied', body: <p class="muted">by <Safe text={String(d['by'] ?? '')} />{d['reason'] ? <>: <Safe text={String(d['reason'])} /></> : null}</p> };
    case 'phase_started': return { who: '', body: <p class="phase-line"><Safe text={e.phase} /></p> };
    case 'phase_ended': return { who: '', body: <p class="muted"><Safe text={e.phase} /> took {duration(Number(d['duration_ms'] ?? 0))}{d['error'] ? <span class="tone-failed">: <Safe text={String(d['error'])} /></span> : null}</p> };
    case 'file_changed': return { who: 'file', body: <p><Path path={String(d['path'] ?? '')} /> <span class="muted">{String(d['change_type'] ?? '')} +{Number(d['additions'] ?? 0)} −{Number(d['deletions'] ?? 0)}</span></p> };
    case 'egress_denied': return { who: 'refused', tone: 'refused', body: <p><code><Safe text={String(d['name'] ?? '')} /></code> <span class="muted"><Safe text={String(d['reason'] ?? '')} />{Number(d['count'] ?? 1) > 1 ? ', ' + count(Number(d['count'])) + ' times' : ''}</span></p> };
    case 'limit_reached': return { who: 'limit', tone: 'failed', body: <p><Safe text={String(d['limit'] ?? '') + ': ' + String(d['detail'] ?? '')} /></p> };
    case 'usage': return { who: 'model', body: <p class="muted"><Safe text={String(d['model'] ?? d['name'] ?? '')} /> {d['input_tokens'] !== undefined ? count(Number(d['input_tokens'])) + ' in, ' + count(Number(d['output_tokens'] ?? 0)) + ' out' : ''}{d['reason'] ? <>: <Safe text={String(d['reason'])} /></> : null}</p> };
    case 'run_started': return { who: 'begins', body: <p class="muted">on <Safe text={String(d['engine'] ?? '')} /> from <code><Safe text={String(d['base_commit'] ?? '').slice(0, 12)} /></code></p> };
    case 'run_ended': return { who: 'ends', tone: toneOf(d['status']), body: <p><strong><Safe text={String(d['status'] ?? '')} /></strong> <Safe text={String(d['summary'] ?? '')} /></p> };
    case 'truncated': return { who: 'left out', body: <p class="muted"><Safe text={String(d['reason'] ?? d['what'] ?? '')} /> {bytes(Number(d['bytes'] ?? 0))}</p> };
  }
  return { who: e.kind.replace(/_/g, ' ').slice(0, 20), body: <Folded text={JSON.stringify(d)} show={(t) => <pre class="muted small-text"><Safe text={t} /></pre>} /> };
}

function toneOf(status: unknown): Tone { return status === 'success' || status === 'partial' || status === 'failed' ? status : 'quiet'; }

function resultWord(status: unknown): string { return status === 'ok' ? 'result' : status === 'denied' ? 'denied' : status === 'cancelled' ? 'cancelled' : 'failed'; }

/** Folded shows the beginning of a long text, and all of it when asked. */
function Folded({ text, show }: { text: string; show: (text: string) => ComponentChildren }): VNode {
  const [all, setAll] = useState(false);
  if (text.length <= fold || all) return <>{show(text)}</>;
  return <>{show(text.slice(0, fold / 2))}<button type="button" class="small" onClick={() => setAll(true)}>Show all {bytes(text.length)}</button></>;
}

function Call({ event }: { event: RunEvent }): VNode {
  const [open, setOpen] = useState(false);
  return (
    <>
      <p><code class="line"><Safe text={titleOf(event)} /></code> <button type="button" class="link" aria-expanded={open} onClick={() => setOpen(!open)}>{open ? 'hide input' : 'input'}</button></p>
      {open && <Folded text={JSON.stringify(event.data['input'], null, 2) ?? ''} show={(t) => <pre class="code" tabIndex={0}><Safe text={t} /></pre>} />}
    </>
  );
}

function Printed({ text, exit }: { text: string; exit: unknown }): VNode {
  return (
    <>
      {text !== '' && <Folded text={text} show={(t) => <pre class="output"><Output text={t} /></pre>} />}
      {typeof exit === 'number' && exit !== 0 && <p class="tone-failed">exit {exit}</p>}
    </>
  );
}

/** Measured is a command that the runner itself ran. */
function Measured({ data }: { data: Record<string, unknown> }): VNode {
  const out = [data['stdout_excerpt'], data['stderr_excerpt']].filter((t) => typeof t === 'string' && t !== '').join('\n');
  return (
    <>
      <p><code class="line"><Safe text={'$ ' + String(data['command'] ?? '')} /></code></p>
      {out !== '' && <Folded text={out} show={(t) => <pre class="output"><Output text={t} /></pre>} />}
      <p class="muted">exit {data['exit_code'] === null ? 'unknown' : String(data['exit_code'])} after {duration(Number(data['duration_ms'] ?? 0))}{data['timed_out'] === true ? ', out of time' : ''}</p>
    </>
  );
}
