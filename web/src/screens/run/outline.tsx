import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { count, duration, many } from '../../lib/format';
import type { Outline } from '../../lib/outline';
import { link } from '../../lib/route';
import type { RunDetail } from '../../lib/types';
import { Delta } from '../../ui/parts';
import { Mark } from '../../ui/status';
import { Path, Safe } from '../../ui/text';

/** OutlineList lists phases with how long they took, and what was called in them. */
export function OutlineList({ outline, running, jump }: { outline: Outline; running: string; jump: (seq: number) => void }): VNode {
  return (
    <details class="fold" open={matchMedia('(min-width: 1001px)').matches}>
      <summary><h2>Outline</h2></summary>
      {outline.phases.length === 0 && <p class="muted">No phase has begun.</p>}
      <ol class="plain-list phases">
        {outline.phases.map((p) => (
          <li>
            <button type="button" class="phase" onClick={() => jump(p.seq)}>
              <Mark tone={p.error ? 'failed' : p.ms !== undefined ? 'success' : p.phase === running ? 'running' : 'quiet'} />
              <span class="phase-name"><Safe text={p.phase} /></span>
              <span class="num muted">{p.ms !== undefined ? duration(p.ms) : ''}</span>
            </button>
            {p.calls.length > 0 && (
              <ol class="plain-list calls">
                {p.dropped > 0 && <li class="muted">{many(p.dropped, 'earlier call')}</li>}
                {p.calls.map((c) => <li><button type="button" class="call" onClick={() => jump(c.seq)}><Safe text={c.title} /></button></li>)}
              </ol>
            )}
          </li>
        ))}
      </ol>
    </details>
  );
}

/** Files lists the files of the change as they appear. */
export function Files({ outline, run }: { outline: Outline; run: RunDetail }): VNode {
  const [all, setAll] = useState(false);
  const files = run.result?.files_changed ?? outline.files;
  const shown = all ? files.slice(0, 500) : files.slice(0, 30);
  return (
    <details class="fold" open={matchMedia('(min-width: 1001px)').matches}>
      <summary><h2>Files{files.length > 0 && <span class="muted"> {count(files.length)}</span>}</h2></summary>
      {files.length === 0 && <p class="muted">{run.result ? 'Nothing was changed.' : 'What changed is read from the box when its work is done.'}</p>}
      <ul class="plain-list files">
        {shown.map((f) => (
          <li><a href={link(['runs', run.run_id, 'changes'], { file: f.path })}><Path path={f.path} /></a> <Delta plus={f.additions ?? 0} minus={f.deletions ?? 0} /></li>
        ))}
      </ul>
      {shown.length < files.length && <button type="button" class="small" onClick={() => setAll(true)}>Show {many(Math.min(files.length, 500), 'file')}</button>}
    </details>
  );
}
