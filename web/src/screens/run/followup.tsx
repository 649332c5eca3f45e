import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { post, problemOf, type Problem } from '../../lib/api';
import { comments, commentText, dropComments } from '../../lib/comments';
import { many } from '../../lib/format';
import { remember, remembered } from '../../lib/prefs';
import { go } from '../../lib/route';
import { useStore } from '../../lib/store';
import type { RunDetail, RunView } from '../../lib/types';
import { ProblemBox } from '../../ui/parts';
import { live } from '../../ui/status';

/** FollowUp is what the agent is told next. Comments on lines of the change go with it. What is typed is kept. */
export function FollowUp({ run }: { run: RunDetail }): VNode {
  const key = 'followup.' + (run.session_id ?? run.run_id);
  const [text, setText] = useState(remembered(key, ''));
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const notes = useStore(comments).filter((c) => c.run === run.run_id);
  const active = live(run);
  const ready = text.trim() !== '' || notes.length > 0;
  const submit = async (): Promise<void> => {
    if (!ready || busy) return;
    setBusy(true);
    setProblem(undefined);
    const prompt = [text.trim(), commentText(notes)].filter((t) => t !== '').join('\n\n');
    try {
      const { run: next } = await post<{ run: RunView }>('/api/sessions/' + run.session_id + '/follow-up', { prompt, queue: active });
      remember(key, null);
      dropComments(run.run_id);
      setText('');
      go(['runs', next.run_id]);
    } catch (err) {
      setProblem(problemOf(err));
    }
    setBusy(false);
  };
  return (
    <form class="followup card" data-testid="follow-up" onSubmit={(e) => { e.preventDefault(); void submit(); }}>
      <label for="followup-text">What should the agent do next?</label>
      <textarea id="followup-text" rows={3} value={text} placeholder="The next run goes on with the files and the conversation of this one."
        onInput={(e) => { setText(e.currentTarget.value); remember(key, e.currentTarget.value); }}
        onKeyDown={(e) => { if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) { e.preventDefault(); void submit(); } }} />
      <div class="followup-end">
        <span class="muted">{notes.length > 0 ? many(notes.length, 'comment') + ' on lines will be sent with it. ' : ''}{active ? 'It waits until this run has ended.' : ''}</span>
        <button type="submit" class="primary" disabled={!ready || busy}>{busy ? 'Sending…' : 'Send'}</button>
      </div>
      {problem && <ProblemBox problem={problem} />}
    </form>
  );
}
