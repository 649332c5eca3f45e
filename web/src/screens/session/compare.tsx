import type { ComponentChildren, VNode } from 'preact';
import { get } from '../../lib/api';
import { count, duration } from '../../lib/format';
import { useLoad } from '../../lib/load';
import { link } from '../../lib/route';
import type { Judged, RunDetail, RunView } from '../../lib/types';
import { Delta, Empty, ProblemBox, Waiting } from '../../ui/parts';
import { Badge, live, StateBadge, type Tone } from '../../ui/status';
import { Path, Safe } from '../../ui/text';

/** Compare shows runs of one task side by side. */
export function Compare({ id }: { id: string }): VNode {
  const { value, problem, again } = useLoad('compare/' + id, async (signal) => {
    const { runs } = await get<{ runs: RunView[] }>('/api/runs?limit=10&compare_id=' + encodeURIComponent(id), signal);
    return Promise.all(runs.map((r) => get<RunDetail>('/api/runs/' + r.run_id, signal)));
  }, 2500);
  return (
    <>
      <div class="head"><h1>Comparison</h1></div>
      {problem && !value && <ProblemBox problem={problem} again={again} />}
      {!value && !problem && <Waiting what="Reading the runs" />}
      {value && value.length === 0 && <Empty title="No run belongs to this comparison."><a href={link(['runs'])}>See all runs</a></Empty>}
      {value && value.length > 0 && <Table runs={[...value].reverse()} />}
    </>
  );
}

const tones: Record<Judged['verdict'], [Tone, string]> = { pass: ['success', 'pass'], fail: ['failed', 'fail'], unverifiable: ['quiet', 'unverifiable'] };

function Table({ runs }: { runs: RunDetail[] }): VNode {
  const criteria = new Map<string, (Judged | undefined)[]>();
  const files = new Map<string, boolean[]>();
  runs.forEach((r, i) => {
    for (const j of [...(r.result?.acceptance ?? []), ...(r.result?.constraints ?? [])]) {
      const row = criteria.get(j.text) ?? runs.map(() => undefined);
      row[i] = j;
      criteria.set(j.text, row);
    }
    for (const f of (r.result?.files_changed ?? []).slice(0, 200)) {
      const row = files.get(f.path) ?? runs.map(() => false);
      row[i] = true;
      files.set(f.path, row);
    }
  });
  const row = (name: ComponentChildren, cell: (r: RunDetail, i: number) => ComponentChildren): VNode => <tr><th scope="row">{name}</th>{runs.map((r, i) => <td>{cell(r, i)}</td>)}</tr>;
  return (
    <>
      <p class="compare-objective"><Safe text={runs[0]?.objective ?? ''} /></p>
      <div class="wide" tabIndex={0} role="group" aria-label="Comparison of runs">
        <table class="compare" data-testid="compare-table">
          <thead><tr><td />{runs.map((r) => <th scope="col"><a href={link(['runs', r.run_id])}><Safe text={r.agent || 'commands'} /></a><span class="muted"> <Safe text={r.model} /></span></th>)}</tr></thead>
          <tbody>
            {row('State', (r) => <StateBadge run={r} />)}
            {[...criteria].slice(0, 100).map(([text, list]) => row(<Safe text={text} />, (_, i) => {
              const j = list[i];
              if (!j) return <span class="muted">–</span>;
              const [tone, word] = tones[j.verdict];
              return <><Badge tone={tone} word={word} /><p class="muted"><Safe text={j.evidence} /></p></>;
            }))}
            {row('Change', (r) => (r.result ? <>{count(r.files)} files <Delta plus={r.additions} minus={r.deletions} /></> : '–'))}
            {row('Time', (r) => (r.ended_at ? duration(Date.parse(r.ended_at) - Date.parse(r.started_at)) : '–'))}
            {row('Tokens', (r) => count(r.tokens.input) + ' in, ' + count(r.tokens.output) + ' out')}
            {row('Cost, by its word', (r) => (r.result?.agent?.usage.claimed_cost_usd ? '$' + r.result.agent.usage.claimed_cost_usd.toFixed(4) : '–'))}
            {row('Look at', (r) => !live(r) && r.result ? <><a href={link(['runs', r.run_id, 'changes'])}>the change</a> · <a href={link(['runs', r.run_id, 'verdict'])}>the verdict</a></> : <a href={link(['runs', r.run_id, 'activity'])}>what happens</a>)}
            {row('', (r) => r.session_id && !live(r) ? <a class="button" href={link(['sessions', r.session_id])}>Continue with this one</a> : '')}
          </tbody>
        </table>
      </div>
      {files.size > 0 && (
        <details class="card more"><summary>Files</summary>
          <table class="compare"><tbody>{[...files].slice(0, 300).map(([path, has]) => <tr><th scope="row"><Path path={path} /></th>{has.map((h) => <td>{h ? 'changed' : <span class="muted">–</span>}</td>)}</tr>)}</tbody></table>
        </details>
      )}
    </>
  );
}
