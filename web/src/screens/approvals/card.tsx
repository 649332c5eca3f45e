import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { get, post, problemOf } from '../../lib/api';
import { bytes, duration } from '../../lib/format';
import { lookAgain } from '../../lib/inbox';
import { link } from '../../lib/route';
import { useNow } from '../../lib/store';
import type { Approval } from '../../lib/types';
import { Badge } from '../../ui/status';
import { Safe } from '../../ui/text';
import { Input, useMatches } from './input';
import { Questions, type Answers } from './questions';

const settle = 600; // milliseconds in which a new card takes no answer: a click may have been meant for what was there before

/**
 * Card is one request of an agent. Its input is shown whole, and may be allowed only after that; nothing but a press
 * inside the card decides it.
 */
export function Card({ asked, withRun }: { asked: Approval; withRun?: boolean }): VNode {
  const now = useNow();
  const [seen, setSeen] = useState(false);
  const [settled, setSettled] = useState(false);
  const [reason, setReason] = useState('');
  const [same, setSame] = useState(false);
  const [answers, setAnswers] = useState<Answers>({});
  const [outcome, setOutcome] = useState('');
  const [busy, setBusy] = useState(false);
  const box = useRef<HTMLElement>(null);
  const matches = useMatches(asked);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(true), settle);
    return () => clearTimeout(timer);
  }, []);
  const questions = asked.questions ?? [];
  const answered = questions.every((q) => (answers[q.id] ?? []).length > 0);
  const left = Date.parse(asked.deadline) - now;
  const over = outcome !== '' || left <= 0;
  const mayAllow = settled && seen && asked.complete && answered && !over && !busy;
  const decide = async (decision: 'allow' | 'deny'): Promise<void> => {
    if (busy || over || (decision === 'allow' && !mayAllow) || (decision === 'deny' && !settled)) return;
    setBusy(true);
    try {
      await post('/api/runs/' + asked.run_id + '/approvals/' + asked.id, {
        digest: asked.digest, decision, ...(reason.trim() !== '' ? { reason: reason.trim() } : {}),
        ...(questions.length > 0 && decision === 'allow' ? { answers } : {}), ...(same ? { remember: true } : {}),
      });
      setOutcome(decision === 'allow' ? 'Allowed by you.' : 'Denied by you.');
    } catch (err) {
      const p = problemOf(err);
      if (p.code === 'already_answered' || p.code === 'expired' || p.code === 'run_ended') setOutcome(await told(asked));
      else { setOutcome(''); setReason(reason); setFailure(p.message); }
    }
    setBusy(false);
    lookAgain();
  };
  const [failure, setFailure] = useState('');
  const keys = (e: KeyboardEvent): void => {
    if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) { e.preventDefault(); void decide('allow'); }
  };
  const name = 'card-' + asked.id;
  return (
    <section class="card approval" ref={box} data-testid="approval-card" aria-labelledby={name} onKeyDown={keys}>
      <header class="approval-head">
        <h2 id={name}><Badge tone="asking" word={questions.length > 0 ? 'asks you' : 'asks to use'} /> {questions.length === 0 && <code><Safe text={asked.tool} /></code>}</h2>
        <span class={'num ' + (left < 60_000 ? 'tone-failed' : 'muted')}>{left > 0 ? 'denied in ' + duration(Math.max(1000, Math.floor(left / 1000) * 1000)) : 'the time is over'}</span>
      </header>
      {withRun && <p><a href={link(['runs', asked.run_id, 'activity'])}>What led to this</a></p>}
      <Input asked={asked} seen={() => setSeen(true)} />
      {questions.length > 0 && <Questions list={questions} answers={answers} change={setAnswers} />}
      <p class="muted approval-facts">
        {bytes(asked.input_bytes)} of input, {asked.action}, digest <code title={asked.digest}>{asked.digest.slice(0, 16)}</code>
        {matches === 'yes' ? ', which was computed again from what is shown' : matches === 'no' ? '; what is shown differs from the exact bytes in spacing or in how characters are written' : ''}
      </p>
      {!asked.complete && <p class="tone-failed">The input is too long to be shown whole. It can only be denied.</p>}
      {outcome !== ''
        ? <p class="approval-outcome" role="status">{outcome}</p>
        : (
          <>
            <label class="only-spoken" for={name + '-reason'}>Reason</label>
            <input id={name + '-reason'} value={reason} maxLength={1000} placeholder="Reason, told to the agent when denied" onInput={(e) => setReason(e.currentTarget.value)} />
            <div class="approval-end">
              <button type="button" class="primary" data-testid="approve" disabled={!mayAllow} onClick={() => void decide('allow')}>{questions.length > 0 ? 'Answer' : 'Allow'}</button>
              <button type="button" class="danger" data-testid="deny" disabled={!settled || over || busy} onClick={() => void decide('deny')}>Deny</button>
              {questions.length === 0 && <label class="check"><input type="checkbox" data-testid="remember" checked={same} onChange={(e) => setSame(e.currentTarget.checked)} /> the same for exactly this in this run</label>}
              {!seen && asked.complete && <span class="muted">Read to the end to allow it.</span>}
            </div>
            {failure !== '' && <p role="alert" class="tone-failed"><Safe text={failure} /></p>}
          </>
        )}
    </section>
  );
}

/** told says who answered a request meanwhile. */
async function told(asked: Approval): Promise<string> {
  try {
    const now = await get<Approval>('/api/runs/' + asked.run_id + '/approvals/' + asked.id);
    if (now.answer) return (now.answer.decision === 'allow' ? 'Allowed' : 'Denied') + ' elsewhere, by ' + (now.answer.by || 'somebody') + '.';
  } catch { /* the run was removed */ }
  return 'Its time is over: it was denied.';
}
