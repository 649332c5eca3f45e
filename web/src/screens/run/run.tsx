import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { get, post, problemOf, type Problem } from '../../lib/api';
import { count, duration } from '../../lib/format';
import { setTitle } from '../../lib/inbox';
import { useLoad } from '../../lib/load';
import { link } from '../../lib/route';
import { useNow } from '../../lib/store';
import type { RunDetail } from '../../lib/types';
import { ProblemBox, Waiting } from '../../ui/parts';
import { live, StateBadge } from '../../ui/status';
import { Safe } from '../../ui/text';
import { Changes } from '../changes/changes';
import { Verdict } from '../verdict/verdict';
import { Activity } from './activity';

const tabs: [string, string][] = [['activity', 'Activity'], ['changes', 'Changes'], ['verdict', 'Verdict']];

/** Run shows one run: what happens in it, what it changed, what was measured. */
export function Run({ id, tab, query }: { id: string; tab: string; query: URLSearchParams }): VNode {
  const [over, setOver] = useState(false);
  const { value: run, problem, again } = useLoad('run/' + id, (signal) => get<RunDetail>('/api/runs/' + id, signal), over ? 0 : 1000);
  useEffect(() => { if (run) setOver(!live(run) && (run.state !== 'crashed' || run.result !== undefined)); }, [run]);
  useEffect(() => { if (run) setTitle(run.objective || run.task_id); }, [run?.objective]);
  if (!run) return problem ? <><h1>Run</h1><ProblemBox problem={problem} again={again} /></> : <><h1>Run</h1><Waiting what="Reading the run" /></>;
  const shown = tab !== '' ? tab : run.result ? 'verdict' : 'activity';
  return (
    <div class="run">
      <Head run={run} again={again} />
      <nav class="tabs" aria-label="Parts of the run">
        {tabs.map(([part, name]) => (
          <a href={link(['runs', id, part])} aria-current={shown === part ? 'page' : undefined}>
            {name}{part === 'changes' && run.files > 0 && <span class="muted"> {count(run.files)}</span>}
          </a>
        ))}
      </nav>
      {run.error && <ProblemBox problem={problemOf(new Error(run.error.message))} />}
      {shown === 'activity' && <Activity run={run} at={Number(query.get('at') ?? 0)} />}
      {shown === 'changes' && <Changes run={run} file={query.get('file') ?? ''} />}
      {shown === 'verdict' && <Verdict run={run} />}
    </div>
  );
}

function Head({ run, again }: { run: RunDetail; again: () => void }): VNode {
  return (
    <header class="run-head">
      <h1><Safe text={run.objective || run.task_id} /></h1>
      <div class="run-facts">
        <StateBadge run={run} />
        {run.phase && <span>phase <strong><Safe text={run.phase} /></strong></span>}
        {run.queued && <span>place {run.queued.position}, waits for <Safe text={run.queued.waiting_for || 'its turn'} /></span>}
        <Clock run={run} />
        {run.tokens.input + run.tokens.output > 0 && <span title="as the runner's broker counted them"><span class="muted">tokens</span> {count(run.tokens.input)} in, {count(run.tokens.output)} out</span>}
        <span><span class="muted">by</span> <Safe text={run.agent || 'commands'} />{run.variant && run.variant !== 'DEFAULT' ? <> <Safe text={run.variant} /></> : null}{run.model ? <span class="muted"> <Safe text={run.model} /></span> : null}</span>
        <span class="run-repo"><span class="muted">in</span> <Safe text={run.repo_root} /></span>
        {run.session_id && <a href={link(['sessions', run.session_id])}>session</a>}
        {run.compare_id && <a href={link(['compare', run.compare_id])}>comparison</a>}
        {run.superseded_by && <a href={link(['runs', run.superseded_by])}>repeated by a later run</a>}
        {live(run) && <Cancel run={run} again={again} />}
      </div>
    </header>
  );
}

/** Clock is the time of a run, and how much of its limit is used. */
function Clock({ run }: { run: RunDetail }): VNode {
  const now = useNow();
  const active = live(run);
  const spent = (run.ended_at ? Date.parse(run.ended_at) : now) - Date.parse(run.started_at);
  const limit = run.limit_seconds * 1000;
  return (
    <span class="clock">
      <span class="num">{duration(active ? Math.floor(Math.max(0, spent) / 1000) * 1000 : spent)}</span>
      {limit > 0 && <span class="muted"> of {duration(limit)}</span>}
      {active && limit > 0 && <meter min={0} max={limit} value={Math.min(limit, Math.max(0, spent))} aria-label="time used of the limit" />}
    </span>
  );
}

/** Cancel asks twice, in place. */
function Cancel({ run, again }: { run: RunDetail; again: () => void }): VNode {
  const [asked, setAsked] = useState(false);
  const [sent, setSent] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const cancel = async (): Promise<void> => {
    setSent(true);
    try { await post('/api/runs/' + run.run_id + '/cancel', { reason: 'cancelled on the page' }); } catch (err) { setProblem(problemOf(err)); setSent(false); }
    again();
  };
  if (sent) return <span class="cancel" role="status">is being cancelled…</span>;
  return (
    <span class="cancel">
      {asked
        ? <><span>End this run? What it has changed is kept as a patch.</span> <button type="button" class="small danger" onClick={() => void cancel()}>End it</button> <button type="button" class="small" onClick={() => setAsked(false)}>Let it run</button></>
        : <button type="button" class="small" data-testid="cancel" onClick={() => setAsked(true)}>Cancel…</button>}
      {problem && <ProblemBox problem={problem} />}
    </span>
  );
}
