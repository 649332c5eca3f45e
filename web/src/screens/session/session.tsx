import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { get, post, problemOf, type Problem } from '../../lib/api';
import { base, many } from '../../lib/format';
import { useLoad } from '../../lib/load';
import { go, link } from '../../lib/route';
import type { RunDetail, RunView, Status } from '../../lib/types';
import { Ago, Copy, Empty, ProblemBox, Waiting } from '../../ui/parts';
import { Badge, StateBadge } from '../../ui/status';
import { Prose, Safe } from '../../ui/text';
import { FollowUp } from '../run/followup';

interface SessionRun { run_id: string; task_id: string; status: Status; claim: string; branch?: string; retry_of?: string; resumed: boolean; started_at: string; ended_at: string }
interface Session { id: string; agent: string; repo_root: string; base: string; created_at: string; runs: SessionRun[] | null; active?: RunView[]; busy: boolean }

/** SessionScreen is the line of runs of one conversation over one state of the files. */
export function SessionScreen({ id }: { id: string }): VNode {
  const { value, problem, again } = useLoad('session/' + id, (signal) => get<Session>('/api/sessions/' + encodeURIComponent(id), signal), 2000);
  const [back, setBack] = useState('');
  if (!value) return <><h1>Session</h1>{problem ? <ProblemBox problem={problem} again={again} /> : <Waiting what="Reading the session" />}</>;
  const runs = value.runs ?? [];
  const active = value.active ?? [];
  const last = runs[runs.length - 1];
  return (
    <div class="session">
      <div class="head"><div><h1>Session <Safe text={id} /></h1><p class="muted"><Safe text={value.agent} /> in <Safe text={base(value.repo_root)} />, begun <Ago time={value.created_at} />. Each run goes on with the files and the conversation of the one before.</p></div></div>
      {runs.length === 0 && active.length === 0 && <Empty title="No run of this session has ended yet."><a href={link(['runs'])}>See all runs</a></Empty>}
      <ol class="plain-list line">
        {runs.map((r, i) => (
          <li class="card">
            <div class="line-head"><a href={link(['runs', r.run_id])}><strong>{i + 1}. <Safe text={r.task_id} /></strong></a> <Badge tone={r.status} word={r.status} /> <span class="muted"><Ago time={r.ended_at} />{r.retry_of ? ', in place of an earlier run' : ''}{r.resumed ? '' : i > 0 ? ', with a new conversation' : ''}</span></div>
            {r.claim && <details><summary class="muted">The agent says</summary><Prose text={r.claim} /></details>}
            {r.branch && <Copy label="its branch" text={r.branch} />}
            {active.length === 0 && (back === r.run_id
              ? <GoBack session={id} run={r.run_id} lost={runs.slice(i)} close={() => setBack('')} />
              : <p><button type="button" class="small" onClick={() => setBack(r.run_id)}>Go back before this…</button></p>)}
          </li>
        ))}
        {active.map((r) => <li class="card"><div class="line-head"><a href={link(['runs', r.run_id])}><strong><Safe text={r.objective || r.task_id} /></strong></a> <StateBadge run={r} /></div></li>)}
      </ol>
      {(last ?? active[0]) && <FollowUp run={{ run_id: last?.run_id ?? active[0]?.run_id ?? '', session_id: id, state: active.length > 0 ? 'running' : 'ended' } as RunDetail} />}
    </div>
  );
}

/** GoBack returns files and conversation to the state before a run, and says what is left behind. */
function GoBack({ session, run, lost, close }: { session: string; run: string; lost: SessionRun[]; close: () => void }): VNode {
  const [text, setText] = useState('');
  const [force, setForce] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const submit = async (): Promise<void> => {
    try {
      const { run: next } = await post<{ run: RunView }>('/api/sessions/' + encodeURIComponent(session) + '/follow-up', { prompt: text, retry_process_id: run, ...(force ? { force_when_dirty: true } : {}) });
      go(['runs', next.run_id]);
    } catch (err) { setProblem(problemOf(err)); }
  };
  return (
    <form class="goback" onSubmit={(e) => { e.preventDefault(); void submit(); }}>
      <p><strong>{many(lost.length, 'run')} will no longer be part of this session</strong>: <Safe text={lost.map((l) => l.task_id).join(', ')} />. What the agent said in {lost.length === 1 ? 'it' : 'them'} is forgotten. {lost.some((l) => l.branch) ? 'Branches stay.' : ''}</p>
      <label for="goback-text">What should it do instead?</label>
      <textarea id="goback-text" rows={3} value={text} onInput={(e) => setText(e.currentTarget.value)} />
      {problem?.code === 'dirty' && <label class="check"><input type="checkbox" checked={force} onChange={(e) => setForce(e.currentTarget.checked)} /> although the repository has uncommitted changes</label>}
      {problem && <ProblemBox problem={problem} />}
      <div class="followup-end"><button type="button" onClick={close}>Leave it</button><button type="submit" class="primary" disabled={text.trim() === ''}>Go back and run</button></div>
    </form>
  );
}
