import type { VNode } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { get, post, problemOf, type Problem } from '../../lib/api';
import { useLoad } from '../../lib/load';
import { go } from '../../lib/route';
import type { Agent, Workspace } from '../../lib/types';
import { ProblemBox } from '../../ui/parts';
import { agentOf, keepDraft, loadDraft, without, type Draft, type Task } from './draft';
import { Form } from './form';
import { JsonEditor } from './json';
import { PlanView, type Plan } from './plan';

/** NewTask writes a task, in words or as JSON, and shows its plan before anything runs. Drafts are kept. */
export function NewTask(): VNode {
  const [draft, setDraft] = useState<Draft>(loadDraft);
  const [tab, setTab] = useState<'words' | 'json'>(draft.json === undefined ? 'words' : 'json');
  const [plan, setPlan] = useState<{ of: string; plan?: Plan; problem?: Problem }>();
  const [sending, setSending] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const agents = useLoad('agents', (s) => get<Agent[]>('/api/agents', s)).value ?? [];
  const repositories = useLoad('workspaces', (s) => get<Workspace[]>('/api/workspaces', s)).value ?? [];
  const change = (next: Draft): void => {
    setDraft(next);
    keepDraft(next);
    setProblem(undefined);
  };
  const set = (part: Partial<Task>): void => change({ ...draft, task: { ...draft.task, ...part } });
  const task = useMemo(() => without(draft.task), [draft.task]);
  const text = JSON.stringify(task);
  const unreadable = draft.json !== undefined;
  const begun = task.objective !== undefined || task.context?.repo_root !== undefined;
  // The plan follows what is typed: it says at once what is missing and what nothing can check.
  useEffect(() => {
    if (!begun || unreadable) { setPlan(undefined); return; }
    const timer = setTimeout(() => {
      post<Plan>('/api/plan', task).then((p) => setPlan({ of: text, plan: p }), (err: unknown) => setPlan({ of: text, problem: problemOf(err) }));
    }, 400);
    return () => clearTimeout(timer);
  }, [text, begun, unreadable]);
  const current = plan?.of === text ? plan : undefined;
  const wrong = problem ?? current?.problem;
  const errorAt = (pointer: string): string => (wrong?.body.details ?? []).filter((d) => place(d.path) === pointer || place(d.path).startsWith(pointer + '/')).map((d) => d.message).join('; ');
  const command = task.execution_mode === 'command';
  const submit = async (): Promise<void> => {
    if (sending || unreadable) return;
    setSending(true);
    setProblem(undefined);
    try {
      if (command) {
        const run = await post<{ run_id: string }>('/execute', task, { Prefer: 'respond-async' });
        keepDraft(undefined);
        go(['runs', run.run_id]);
      } else {
        const others = draft.more.filter((m) => m !== '');
        const { agent: _, ...rest } = task;
        const request = others.length > 0 ? { executor: [task.agent ?? agentOf(task).name, ...others], task: rest } : { task };
        const answer = await post<{ run?: { run_id: string }; compare_id?: string }>('/api/sessions', request);
        keepDraft(undefined);
        if (answer.compare_id) go(['compare', answer.compare_id]);
        else if (answer.run) go(['runs', answer.run.run_id]);
      }
    } catch (err) { setProblem(problemOf(err)); }
    setSending(false);
  };
  return (
    <form class="newtask" data-testid="new-task" onSubmit={(e) => { e.preventDefault(); void submit(); }}
      onKeyDown={(e) => { if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) { e.preventDefault(); void submit(); } }}>
      <div class="head"><h1>New task</h1>
        <div class="segments" role="group" aria-label="How to write it">
          <button type="button" aria-pressed={tab === 'words'} disabled={unreadable} onClick={() => setTab('words')}>In words</button>
          <button type="button" aria-pressed={tab === 'json'} onClick={() => setTab('json')}>JSON</button>
        </div>
      </div>
      <div class="newtask-parts">
        <div class="newtask-form card">
          {tab === 'words'
            ? <Form task={draft.task} set={set} more={draft.more} setMore={(more) => change({ ...draft, more })} agents={agents} repositories={repositories} errorAt={errorAt} />
            : <JsonEditor draft={draft} task={task} change={change} problem={wrong} />}
        </div>
        <aside class="newtask-plan" aria-label="Plan">
          <PlanView plan={current?.plan} problem={wrong} begun={begun} waiting={begun && !current && !unreadable} />
          {problem && <ProblemBox problem={problem} />}
          <div class="newtask-end">
            <button type="submit" class="primary" disabled={sending || unreadable || !current?.plan}>{sending ? 'Sending…' : draft.more.some((m) => m !== '') ? 'Run on ' + (1 + draft.more.filter((m) => m !== '').length) + ' agents' : 'Run it'}</button>
            <button type="button" class="quiet" onClick={() => { change({ task: { execution_mode: 'code' }, more: [] }); setTab('words'); }}>Clear</button>
            <span class="muted">The draft is kept in this browser.</span>
          </div>
        </aside>
      </div>
    </form>
  );
}

/** place is where a task has what an error names: a request that holds a task names it with one step more. */
function place(path: string): string { return path.startsWith('/task/') ? path.slice(5) : path; }
