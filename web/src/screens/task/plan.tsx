import type { VNode } from 'preact';
import type { Problem } from '../../lib/api';
import { duration, many } from '../../lib/format';
import { Empty, Facts, Waiting } from '../../ui/parts';
import { Badge } from '../../ui/status';
import { Safe } from '../../ui/text';

/** The part of a plan that the page shows. */
export interface Plan {
  repo_root: string; base: string; include_dirty?: boolean; execution_mode: string; limit_seconds: number;
  agent?: { name?: string; variant?: string; model?: string; provider?: string }; setup?: string[]; work?: string[];
  verify?: { command: string; criteria?: number[]; expect_exit?: number }[];
  criteria?: unknown[]; constraints?: unknown[]; protected_paths?: string[]; land?: string;
  box?: { image?: string; setup_allow?: string[]; verify_allow?: string[] };
  readings?: { text: string; checks: { kind?: string; command?: string; words: string; unmeasured?: string }[]; rest: string }[];
  approvals?: { policy?: string };
}

/** PlanView says what would happen, what will be checked by what, and what nothing can check. */
export function PlanView({ plan, problem, begun, waiting }: { plan: Plan | undefined; problem: Problem | undefined; begun: boolean; waiting: boolean }): VNode {
  if (!begun) return <Empty title="The plan appears here."><p>Name a repository and say what you want. Nothing runs before you press Run.</p></Empty>;
  if (waiting) return <Waiting what="Making the plan" />;
  if (!plan) {
    const list = problem?.body.details ?? [];
    return (
      <div class="card"><h2>Not ready yet</h2>
        {list.length === 0 ? <p><Safe text={problem?.message ?? ''} /></p> : <ul>{list.slice(0, 20).map((d) => <li><code><Safe text={d.path || '/'} /></code> <Safe text={d.message} /></li>)}</ul>}
        {problem?.body.hint && <p class="muted"><Safe text={problem.body.hint} /></p>}
      </div>
    );
  }
  const measured = new Set((plan.verify ?? []).flatMap((v) => v.criteria ?? []));
  const hosts = [...(plan.box?.setup_allow ?? []), ...(plan.box?.verify_allow ?? [])];
  const read = (text: string): string => (plan.readings ?? []).find((r) => r.text === text)?.checks.filter((c) => !c.unmeasured)
    .map((c) => 'read as ' + (c.command ? '$ ' + c.command : c.kind ?? '')).join('; ') ?? '';
  return (
    <div class="card plan">
      <h2>What would happen</h2>
      <Facts rows={[
        ['begins from', <><Safe text={plan.base} /> of <Safe text={plan.repo_root} />{plan.include_dirty ? ', with uncommitted changes' : ''}</>],
        ['works', plan.execution_mode === 'command' ? many((plan.work ?? []).length, 'command') : <><Safe text={plan.agent?.name ?? 'the configured agent'} /> <span class="muted"><Safe text={[plan.agent?.variant, plan.agent?.model].filter((t) => t).join(', ')} /></span></>],
        ['asks you', plan.approvals?.policy === 'ask' && 'before it uses a tool'],
        ['network', hosts.length === 0 ? 'closed' : <>open during set-up: <Safe text={[...new Set(hosts)].join(', ')} /></>],
        ['limit', duration(plan.limit_seconds * 1000)],
        ['becomes', plan.land === 'none' ? 'a patch, no branch' : 'one new branch'],
      ]} />
      <h3>Checked by</h3>
      <ul class="plain-list judged">
        {(plan.criteria ?? []).map((c, i) => <Check text={nameOf(c)} by={measured.has(i) ? 'run in a fresh box' : typeof c === 'string' ? read(c) : 'the runner'} />)}
        {(plan.constraints ?? []).map((c) => <Check text={nameOf(c)} by={typeof c === 'string' ? read(c) : 'the runner'} />)}
        {(plan.protected_paths ?? []).map((g) => <Check text={'does not touch ' + g} by="the runner" />)}
      </ul>
      {(plan.criteria ?? []).length === 0 && <p class="tone-partial">No acceptance criteria: the run ends without a measurement of whether it worked.</p>}
    </div>
  );
}

function Check({ text, by }: { text: string; by: string }): VNode {
  return <li>{by !== '' ? <Badge tone="success" word="checked" /> : <Badge tone="partial" word="unverifiable" />}<div><p><Safe text={text} /></p><p class="muted">{by !== '' ? <Safe text={by} /> : 'a sentence that nothing can check: read the change yourself'}</p></div></li>;
}

function nameOf(c: unknown): string {
  if (typeof c === 'string') return c;
  const { command } = c as { command?: unknown };
  return typeof command === 'string' ? '$ ' + command : JSON.stringify(c);
}
