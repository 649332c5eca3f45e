import type { VNode } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { get, problemOf, type Problem } from '../lib/api';
import { base, duration, many, short } from '../lib/format';
import { useLoad } from '../lib/load';
import { go, link, replace } from '../lib/route';
import { useNow } from '../lib/store';
import type { Agent, RunView, Workspace } from '../lib/types';
import { polite } from '../ui/announce';
import { typing } from '../ui/keys';
import { Ago, Delta, Empty, ProblemBox, Waiting } from '../ui/parts';
import { live, StateBadge, where } from '../ui/status';
import { Safe } from '../ui/text';

interface Page { runs: RunView[]; next: string }

const pageSize = 50;
const filters = ['state', 'agent', 'workspace_id', 'q'] as const;

/** Runs lists all runs: what runs, waits, needs an answer, has ended. */
export function Runs({ query }: { query: URLSearchParams }): VNode {
  const chosen = useMemo(() => {
    const out: Record<string, string> = {};
    for (const name of filters) out[name] = query.get(name) ?? '';
    return out;
  }, [query]);
  const search = new URLSearchParams({ limit: String(pageSize) });
  for (const [name, value] of Object.entries(chosen)) {
    if (value === '') continue;
    if (name === 'state' && ['success', 'partial', 'failed'].includes(value)) search.set('status', value);
    else search.set(name, value);
  }
  const { value, problem, again } = useLoad('runs?' + search.toString(), (signal) => get<Page>('/api/runs?' + search.toString(), signal), 2000);
  const [older, setOlder] = useState<{ key: string; runs: RunView[]; next: string; problem?: Problem }>({ key: '', runs: [], next: '' });
  const key = search.toString();
  const more = older.key === key ? older : undefined;
  const next = more ? more.next : value?.next ?? '';
  const readMore = async (): Promise<void> => {
    try {
      const page = await get<Page>('/api/runs?' + key + '&before=' + encodeURIComponent(next));
      setOlder({ key, runs: [...(more?.runs ?? []), ...page.runs], next: page.next });
    } catch (err) {
      setOlder({ key, runs: more?.runs ?? [], next, problem: problemOf(err) });
    }
  };
  const shown = new Set(value?.runs.map((r) => r.run_id));
  const runs = [...(value?.runs ?? []), ...(more?.runs ?? []).filter((r) => !shown.has(r.run_id))];
  const busy = runs.filter(live).length;
  const asking = runs.filter((r) => r.approvals_pending > 0).length;
  useEffect(() => polite.set(many(busy, 'run') + ' under way, ' + asking + ' need an answer'), [busy, asking]);
  const filtered = Object.values(chosen).some((v) => v !== '');
  return (
    <>
      <div class="head">
        <h1>Runs</h1>
        <a class="button primary" href={link(['new'])}>New task</a>
      </div>
      <Filters chosen={chosen} />
      {problem && !value && <ProblemBox problem={problem} again={again} />}
      {!value && !problem && <Waiting what="Reading the runs" />}
      {value && runs.length === 0 && (filtered
        ? <Empty title="No run is like this."><a href={link(['runs'])}>Show all runs</a></Empty>
        : (
          <Empty title="Nothing has run yet.">
            <p><a href={link(['new'])}>Write a task</a> here, or run <code>sandboxrun demo</code> in a terminal: it shows a whole run in a minute.</p>
          </Empty>
        ))}
      {runs.length > 0 && <Table runs={runs} />}
      {more?.problem && <ProblemBox problem={more.problem} />}
      {next !== '' && <p class="after"><button type="button" onClick={() => void readMore()}>Show older runs</button></p>}
    </>
  );
}

function Filters({ chosen }: { chosen: Record<string, string> }): VNode {
  const agents = useLoad('agents', (signal) => get<Agent[]>('/api/agents', signal)).value;
  const repositories = useLoad('workspaces', (signal) => get<Workspace[]>('/api/workspaces', signal), 30_000).value;
  const [words, setWords] = useState(chosen['q'] ?? '');
  const set = (name: string, value: string): void => replace(['runs'], { ...chosen, [name]: value });
  useEffect(() => {
    const timer = setTimeout(() => { if (words !== chosen['q']) set('q', words); }, 250);
    return () => clearTimeout(timer);
  }, [words]);
  const states: [string, string][] = [['', 'any state'], ['running', 'runs'], ['queued', 'waits'], ['success', 'success'], ['partial', 'partial'], ['failed', 'failed'], ['refused', 'refused'], ['crashed', 'crashed']];
  return (
    <form class="filters" role="search" onSubmit={(e) => { e.preventDefault(); set('q', words); }}>
      <input type="search" aria-label="Search in objectives, summaries and ids" placeholder="Search  /" value={words} onInput={(e) => setWords(e.currentTarget.value)} />
      <select aria-label="State" value={chosen['state']} onChange={(e) => set('state', e.currentTarget.value)}>
        {states.map(([v, word]) => <option value={v}>{word}</option>)}
      </select>
      <select aria-label="Repository" value={chosen['workspace_id']} onChange={(e) => set('workspace_id', e.currentTarget.value)}>
        <option value="">any repository</option>
        {(repositories ?? []).slice(0, 500).map((w) => <option value={w.id} title={w.root}>{w.name}</option>)}
      </select>
      <select aria-label="Agent" value={chosen['agent']} onChange={(e) => set('agent', e.currentTarget.value)}>
        <option value="">any agent</option>
        {(agents ?? []).map((a) => <option value={a.name}>{a.name}</option>)}
      </select>
    </form>
  );
}

function Table({ runs }: { runs: RunView[] }): VNode {
  const [at, setAt] = useState(-1);
  const body = useRef<HTMLUListElement>(null);
  useEffect(() => {
    const pressed = (e: KeyboardEvent): void => {
      if (typing(e) || e.ctrlKey || e.metaKey || e.altKey) return;
      const step = e.key === 'ArrowDown' || e.key === 'j' ? 1 : e.key === 'ArrowUp' || e.key === 'k' ? -1 : 0;
      if (step === 0) return;
      e.preventDefault();
      setAt((old) => {
        const next = Math.min(runs.length - 1, Math.max(0, old + step));
        body.current?.querySelectorAll<HTMLAnchorElement>('a.run-row')[next]?.focus();
        return next;
      });
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, [runs.length]);
  return (
    <div class="runs">
      <div class="runs-head" aria-hidden="true"><span>State</span><span>Task</span><span>Repository</span><span>Agent</span><span class="num">Change</span><span class="num">Time</span><span class="num">Tokens</span><span class="num">Begun</span></div>
      <ul ref={body} class="plain-list" aria-label="Runs, the newest first">
        {runs.map((r, i) => <Row key={r.run_id} run={r} current={i === at} focused={() => setAt(i)} />)}
      </ul>
    </div>
  );
}

function Row({ run, current, focused }: { run: RunView; current: boolean; focused: () => void }): VNode {
  const active = live(run);
  const what = where(run);
  return (
    <li>
      <a class={'run-row' + (current ? ' current' : '')} data-testid="run-row" href={link(['runs', run.run_id])} onFocus={focused}
        onKeyDown={(e) => { if (e.key === 'Enter') { e.preventDefault(); go(['runs', run.run_id]); } }}>
        <span class="c-state"><StateBadge run={run} /></span>
        <span class="c-task">
          <span class="run-objective"><Safe text={run.objective || run.summary || run.task_id} /></span>
          <span class="run-summary muted">{what !== '' ? <Safe text={what} /> : <Safe text={run.summary} />}{run.superseded_by ? ' · repeated' : ''}</span>
        </span>
        <span class="c-repo" title={run.repo_root}><Safe text={base(run.repo_root)} /></span>
        <span class="c-agent"><Safe text={run.agent || 'commands'} />{run.variant && run.variant !== 'DEFAULT' && <span class="muted"> <Safe text={run.variant} /></span>}</span>
        <span class="c-change num">{run.files > 0 ? <Delta plus={run.additions} minus={run.deletions} /> : <span class="muted">–</span>}</span>
        <span class="c-time num">{active ? <Elapsed run={run} /> : run.ended_at ? duration(Date.parse(run.ended_at) - Date.parse(run.started_at)) : '–'}</span>
        <span class="c-tokens num">{run.tokens.input + run.tokens.output > 0 ? short(run.tokens.input + run.tokens.output) : <span class="muted">–</span>}</span>
        <span class="c-begun num muted"><Ago time={run.started_at} /></span>
      </a>
    </li>
  );
}

/** Elapsed is the time of a run so far, against its limit. */
export function Elapsed({ run }: { run: RunView }): VNode {
  const now = useNow();
  const spent = now - Date.parse(run.started_at);
  return <span title={'limit ' + duration(run.limit_seconds * 1000)}>{duration(Math.floor(Math.max(spent, 0) / 1000) * 1000)}</span>;
}
