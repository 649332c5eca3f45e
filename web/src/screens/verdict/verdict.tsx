import type { VNode } from 'preact';
import { base, duration } from '../../lib/format';
import { link } from '../../lib/route';
import type { CommandRun, Issue, Judged, Result, RunDetail } from '../../lib/types';
import { Output } from '../../ui/ansi';
import { Copy, Empty, Facts } from '../../ui/parts';
import { Badge, live, Mark, type Tone } from '../../ui/status';
import { Path, Safe } from '../../ui/text';
import { FollowUp } from '../run/followup';
import { Apply } from './apply';
import { Claim } from './claim';

/** Verdict shows what was measured: the agent's word beside it, never in its place. */
export function Verdict({ run }: { run: RunDetail }): VNode {
  const r = run.result;
  if (!r) {
    return live(run)
      ? <Empty title="Nothing is measured yet."><p>The verdict is made when the work is done, in a fresh box. <a href={link(['runs', run.run_id, 'activity'])}>See what happens now</a></p></Empty>
      : <Empty title="This run has no result."><p>{run.error ? <Safe text={run.error.message} /> : 'It was refused or is being settled.'}</p></Empty>;
  }
  return (
    <div class="verdict" data-testid="verdict">
      <section class={'card verdict-head edge-' + r.status}>
        <h2><Badge tone={r.status} word={r.status} /></h2>
        <p><Safe text={r.summary} /></p>
        {r.notes_for_human && <p class="muted">Note of the task: <Safe text={r.notes_for_human} /></p>}
      </section>
      {r.agent && <Claim result={r} />}
      <Judgements title="Acceptance" list={r.acceptance} none="The task names no acceptance criteria: nothing was measured. A command such as {&quot;command&quot;: &quot;npm test&quot;} would be run in a fresh box." />
      <Judgements title="Constraints" list={r.constraints} none="" />
      <Issues list={r.issues} run={run} />
      <Commands list={r.commands_run.filter((c) => c.source === 'runner')} />
      {!live(run) && r.git.branch && <Use run={run} result={r} />}
      <Box result={r} />
      {run.session_id && <FollowUp run={run} />}
    </div>
  );
}

const verdicts: Record<Judged['verdict'], [Tone, string]> = { pass: ['success', 'pass'], fail: ['failed', 'fail'], unverifiable: ['quiet', 'unverifiable'] };

function Judgements({ title, list, none }: { title: string; list: Judged[]; none: string }): VNode | null {
  if (list.length === 0 && none === '') return null;
  return (
    <section class="card"><h2>{title}</h2>
      {list.length === 0 && <p class="muted">{none}</p>}
      <ul class="plain-list judged">
        {list.map((j) => {
          const [tone, word] = verdicts[j.verdict];
          return <li><Badge tone={tone} word={word} /><div><p><Safe text={j.text} /></p><p class="muted"><Safe text={j.evidence} /></p>{j.rest && <p class="tone-partial">Nothing measures these words: <Safe text={j.rest} /></p>}</div></li>;
        })}
      </ul>
    </section>
  );
}

const classes: Record<string, string> = { test_failure: 'A test failed', env_issue: 'The environment', unclear_requirement: 'The task', conflict: 'The change' };

function Issues({ list, run }: { list: Issue[]; run: RunDetail }): VNode | null {
  if (list.length === 0) return null;
  return (
    <section class="card"><h2>What to look at</h2>
      <ul class="plain-list issues">
        {list.map((i) => (
          <li>
            <p><strong><Safe text={classes[i.type] ?? i.type} /></strong> <code><Safe text={i.code} /></code> {i.path && <a href={link(['runs', run.run_id, 'changes'], { file: i.path })}><Path path={i.path} /></a>}</p>
            <p><Safe text={i.description} /></p>
            {i.suggested_action && <p class="todo"><span class="muted">What to do:</span> <Safe text={i.suggested_action} /></p>}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Commands({ list }: { list: CommandRun[] }): VNode | null {
  if (list.length === 0) return null;
  return (
    <section class="card"><h2>Commands the runner ran</h2>
      <ul class="plain-list commands">
        {list.map((c) => {
          const out = [c.stdout_excerpt, c.stderr_excerpt].filter((t) => t !== '').join('\n');
          return (
            <li>
              <details>
                <summary><Mark tone={c.exit_code === 0 ? 'success' : 'failed'} /> <code class="line"><Safe text={c.command.length > 200 ? c.command.slice(0, 199) + '…' : c.command} /></code> <span class="muted">{c.phase}, exit {c.exit_code ?? 'unknown'}, {duration(c.duration_ms)}{c.timed_out ? ', out of time' : ''}</span></summary>
                {c.command.length > 200 && <pre class="output"><Safe text={c.command} /></pre>}
                {out === '' ? <p class="muted">It printed nothing.</p> : <pre class="output"><Output text={out} /></pre>}
              </details>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** Use says how the change comes into the user's own tree. */
function Use({ run, result }: { run: RunDetail; result: Result }): VNode {
  const branch = result.git.branch ?? '';
  return (
    <section class="card"><h2>Use the change</h2>
      <p>It is one commit on the branch <code><Safe text={branch} /></code> of <Safe text={base(run.repo_root)} />; nothing else there was touched.</p>
      <div class="stack">
        <Copy label="merge it" text={'git merge ' + branch} />
        <Copy label="look at it" text={'git diff ' + (result.git.base_commit ?? '').slice(0, 12) + ' ' + branch} />
        <Copy label="only the files" text={'sandboxrun apply ' + run.run_id} />
      </div>
      <Apply run={run} />
    </section>
  );
}

function Box({ result }: { result: Result }): VNode | null {
  const b = result.box;
  if (!b) return null;
  const denied = b.network.denied ?? [];
  const allowed = b.network.setup_allow ?? [];
  const times = Object.entries(result.timing).filter(([name]) => name !== 'total');
  return (
    <section class="card"><h2>The box</h2>
      <Facts rows={[
        ['isolation', <><Safe text={b.tier || b.runtime} /> <span class="muted"><Safe text={b.engine} /></span></>],
        ['image', <Safe text={b.image} />],
        ['network', <>{b.network.provider ? <>only the model of <Safe text={b.network.provider} /></> : 'none'}{allowed.length > 0 && <>; during set-up <Safe text={allowed.join(', ')} /></>}</>],
        ['refused', denied.length > 0 && <Safe text={denied.slice(0, 50).join(', ')} />],
        ['clean-up', b.cleanup.complete ? 'complete: nothing is left' : <span class="tone-failed">left: <Safe text={(b.cleanup.left ?? []).join(', ')} /></span>],
        ['agent', result.agent && <><Safe text={result.agent.name} /> <Safe text={result.agent.cli_version ?? ''} /> <span class="muted"><Safe text={result.agent.model ?? ''} /></span></>],
        ['cost', result.agent?.usage.claimed_cost_usd ? <>${result.agent.usage.claimed_cost_usd.toFixed(4)} <span class="muted">by the agent's word</span></> : ''],
        ['phases', <span class="phase-times">{times.map(([name, ms]) => <span><Safe text={name} /> <span class="num muted">{duration(ms)}</span></span>)}</span>],
      ]} />
    </section>
  );
}
