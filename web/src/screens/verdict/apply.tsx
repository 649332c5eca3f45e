import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { post, problemOf, type Problem } from '../../lib/api';
import { many } from '../../lib/format';
import type { RunDetail } from '../../lib/types';
import { ProblemBox } from '../../ui/parts';
import { Path } from '../../ui/text';

interface Report { files?: (string | { path: string })[]; left_out?: unknown[]; refused?: unknown[] }

/** Apply brings the change into the user's working tree: first it says what would happen, then it does it. */
export function Apply({ run }: { run: RunDetail }): VNode {
  const [report, setReport] = useState<Report>();
  const [problem, setProblem] = useState<Problem>();
  const [done, setDone] = useState(false);
  const [busy, setBusy] = useState(false);
  const ask = async (dry: boolean): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      const answer = await post<Report>('/api/runs/' + run.run_id + '/apply', { dry_run: dry });
      setReport(answer);
      setDone(!dry);
    } catch (err) { setProblem(problemOf(err)); setReport(undefined); }
    setBusy(false);
  };
  const files = report?.files ?? [];
  return (
    <div class="apply">
      {!report && <button type="button" disabled={busy} onClick={() => void ask(true)}>{busy ? 'Looking…' : 'Apply to the working tree…'}</button>}
      {report && !done && (
        <>
          <p>This would change {many(files.length || run.files, 'file')} in {run.repo_root}, and commit nothing:</p>
          <ul>{files.slice(0, 20).map((f) => <li><Path path={typeof f === 'string' ? f : f.path} /></li>)}</ul>
          <button type="button" class="primary" disabled={busy} onClick={() => void ask(false)}>Apply it</button> <button type="button" onClick={() => setReport(undefined)}>Leave it</button>
        </>
      )}
      {done && <p role="status">Applied. Look at it with <code>git diff</code>.</p>}
      {problem && <ProblemBox problem={problem} />}
    </div>
  );
}
