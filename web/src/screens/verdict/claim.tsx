import type { VNode } from 'preact';
import type { ClaimRow, Result } from '../../lib/types';
import { Badge, type Tone } from '../../ui/status';
import { Prose, Safe } from '../../ui/text';

/** Claim puts what the agent says beside what was measured, as a whole and command by command. */
export function Claim({ result }: { result: Result }): VNode {
  const t = result.tests;
  const tone: Tone = t.passed === null ? 'quiet' : t.passed ? 'success' : 'failed';
  const rows = result.claims ?? [];
  return (
    <section data-testid="claim" aria-label="Claim and measurement">
      <div class="claim">
        <div class="card"><h2>The agent says</h2>{result.agent?.claim ? <Prose text={result.agent.claim} /> : <p class="muted">Nothing: it ended without a last message.</p>}</div>
        <div class="card"><h2>Measured</h2>
          <p><Badge tone={tone} word={t.passed === null ? 'nothing to measure' : t.passed ? 'commands passed' : 'commands failed'} /></p>
          <p><Safe text={t.details} /></p>
        </div>
      </div>
      {rows.length > 0 && (
        <div class="wide claims" tabIndex={0} role="group" aria-label="Claims beside measurements">
          <table class="compare">
            <thead><tr><th scope="col">Its words</th><th scope="col">It says</th><th scope="col">Measured</th><th scope="col">Both agree</th></tr></thead>
            <tbody>{rows.slice(0, 100).map((r) => <Row row={r} />)}</tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function Row({ row }: { row: ClaimRow }): VNode {
  const [tone, word]: [Tone, string] = row.agrees === null ? ['quiet', 'unmeasured'] : row.agrees ? ['success', 'yes'] : ['failed', 'no'];
  return (
    <tr>
      <td><Safe text={row.text} />{row.command && row.command !== row.text && <p class="muted"><Safe text={'$ ' + row.command} /></p>}</td>
      <td>{row.says} <span class="muted">{row.source === 'tool_call' ? 'in a tool call' : 'in its last message'}</span></td>
      <td>{row.measured}{row.exit_code !== null ? ', exit ' + row.exit_code : ''}</td>
      <td><Badge tone={tone} word={word} /></td>
    </tr>
  );
}
