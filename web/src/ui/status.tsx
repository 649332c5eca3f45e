import type { VNode } from 'preact';
import type { RunView } from '../lib/types';

/** What a run is doing, or how it ended, in one word. Each word has a colour and a shape of its own. */
export type Tone = 'success' | 'partial' | 'failed' | 'running' | 'waiting' | 'asking' | 'crashed' | 'refused' | 'quiet';

const shapes: Record<Tone, VNode> = {
  success: <><circle cx="8" cy="8" r="7" fill="currentColor" /><path d="M4.8 8.2l2.2 2.2 4.2-4.6" class="inner" /></>,
  partial: <><path d="M8 1.2l7 13H1z" fill="currentColor" stroke="currentColor" stroke-linejoin="round" /><path d="M8 6v4M8 12v.2" class="inner" /></>,
  failed: <><rect x="1.5" y="1.5" width="13" height="13" rx="3" fill="currentColor" /><path d="M5.2 5.2l5.6 5.6M10.8 5.2l-5.6 5.6" class="inner" /></>,
  running: <><circle cx="8" cy="8" r="6" class="outer" /><path d="M8 4.4v7.2a3.6 3.6 0 000-7.2z" fill="currentColor" /></>,
  waiting: <><circle cx="8" cy="8" r="6" class="outer" stroke-dasharray="2.4 2.2" /></>,
  asking: <><path d="M8 .8L15.2 8 8 15.2.8 8z" fill="currentColor" /><path d="M6.4 6.6c.2-2.2 3.4-2 3.2 0-.1 1-1.6 1-1.6 2.2M8 11v.2" class="inner" /></>,
  crashed: <><path d="M5 1h6l4 4v6l-4 4H5l-4-4V5z" fill="currentColor" /><path d="M8.8 3.6L6.4 8h3.2l-2.4 4.4" class="inner" /></>,
  refused: <><circle cx="8" cy="8" r="6" class="outer" /><path d="M3.8 12.2l8.4-8.4" class="outer" /></>,
  quiet: <><circle cx="8" cy="8" r="3" fill="currentColor" /></>,
};

/** Mark is the shape of a tone. A word always stands beside it. */
export function Mark({ tone }: { tone: Tone }): VNode {
  return <svg class={'mark tone-' + tone} viewBox="0 0 16 16" width="14" height="14" aria-hidden="true" focusable="false">{shapes[tone]}</svg>;
}

/** Badge is a shape and its word. */
export function Badge({ tone, word, testid }: { tone: Tone; word: string; testid?: string }): VNode {
  return <span class={'badge tone-' + tone} data-testid={testid}><Mark tone={tone} />{word}</span>;
}

/** stateOf says in a tone and a word where a run is. */
export function stateOf(run: RunView): { tone: Tone; word: string } {
  if (run.approvals_pending > 0 && run.state !== 'ended') return { tone: 'asking', word: 'needs an answer' };
  switch (run.state) {
    case 'queued': return { tone: 'waiting', word: 'waits' };
    case 'starting': return { tone: 'running', word: 'starts' };
    case 'running': return { tone: 'running', word: 'runs' };
    case 'refused': return { tone: 'refused', word: 'refused' };
    case 'crashed': return { tone: 'crashed', word: 'crashed' };
    case 'ended': return { tone: run.status ?? 'quiet', word: run.status ?? 'ended' };
  }
}

export function StateBadge({ run }: { run: RunView }): VNode {
  const { tone, word } = stateOf(run);
  return <Badge tone={tone} word={word} testid="run-state" />;
}

export function live(run: RunView): boolean { return run.state === 'queued' || run.state === 'starting' || run.state === 'running'; }

/** where says in a few words what a run does now or waits for. */
export function where(run: RunView): string {
  if (run.state === 'queued' && run.queued) return 'place ' + run.queued.position + ', waits for ' + (run.queued.waiting_for || 'its turn');
  if (run.state === 'running' && run.phase) return 'phase ' + run.phase;
  return '';
}
