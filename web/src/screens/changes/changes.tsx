import type { VNode } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { send } from '../../lib/api';
import { comments, putComment, type LineComment } from '../../lib/comments';
import { many } from '../../lib/format';
import { useLoad } from '../../lib/load';
import { parsePatch, type FilePatch } from '../../lib/patch';
import { remember, remembered } from '../../lib/prefs';
import { useStore } from '../../lib/store';
import type { RunDetail } from '../../lib/types';
import { Delta, Empty, ProblemBox, Waiting } from '../../ui/parts';
import { live } from '../../ui/status';
import { VirtualList } from '../../ui/virtual';
import { FollowUp } from '../run/followup';
import { FileList } from './filelist';
import { RowView } from './row';
import { rowsOf, type View } from './rows';

/** Changes shows what the run has changed, as measured by the runner. */
export function Changes({ run, file }: { run: RunDetail; file: string }): VNode {
  const ended = run.result !== undefined;
  const { value, problem, again } = useLoad('patch/' + run.run_id + ended, async (signal) => {
    if (!ended) return undefined;
    return parsePatch(await (await send('/api/runs/' + run.run_id + '/diff', { accept: 'text/x-diff', signal })).text());
  });
  if (!ended) return <Empty title={live(run) ? 'The change is read when the work is done.' : 'This run has no result.'}><p>What a box holds is read only after everything in it has ended.</p></Empty>;
  if (problem) return <ProblemBox problem={problem} again={again} />;
  if (!value) return <Waiting what="Reading the change" />;
  if (value.length === 0) return <Empty title="Nothing was changed."><p>The tree at the end is the tree at the beginning.</p></Empty>;
  return <Patch run={run} files={value} wanted={file} />;
}

function Patch({ run, files, wanted }: { run: RunDetail; files: FilePatch[]; wanted: string }): VNode {
  const [view, setView] = useState<View>(() => ({ wrap: true, space: false, ...remembered<Partial<View>>('diff', {}), split: innerWidth >= 1100 && remembered<Partial<View>>('diff', {}).split === true }));
  const [viewed, setViewed] = useState(() => new Set(remembered<string[]>('viewed.' + run.run_id, [])));
  const [draft, setDraft] = useState<LineComment>();
  const all = useStore(comments);
  const notes = useMemo(() => {
    const mine = all.filter((c) => c.run === run.run_id);
    return draft && !mine.some((c) => c.path === draft.path && c.line === draft.line && c.side === draft.side) ? [...mine, draft] : mine;
  }, [all, draft, run.run_id]);
  const rows = useMemo(() => rowsOf(files, view, viewed, notes), [files, view, viewed, notes]);
  const starts = useMemo(() => {
    const at = new Map<string, number>();
    rows.forEach((r, i) => { if (r.kind === 'file') at.set(r.file.path, i); });
    return at;
  }, [rows]);
  const handle = useRef<{ scrollTo: (i: number) => void }>(null);
  const jump = (path: string): void => { const i = starts.get(path); if (i !== undefined) handle.current?.scrollTo(i); };
  useEffect(() => { if (wanted !== '') jump(wanted); }, [wanted]);
  const tick = (path: string, on: boolean): void => {
    const next = new Set(viewed);
    if (on) next.add(path); else next.delete(path);
    setViewed(next);
    remember('viewed.' + run.run_id, next.size === 0 ? null : [...next].slice(0, 5000));
  };
  const choose = (change: Partial<View>): void => {
    const next = { ...view, ...change };
    setView(next);
    remember('diff', next);
  };
  const issues = useMemo(() => {
    const at = new Map<string, string[]>();
    for (const i of run.result?.issues ?? []) if (i.path) at.set(i.path, [...(at.get(i.path) ?? []), i.description]);
    return at;
  }, [run.result]);
  const plus = files.reduce((n, f) => n + f.plus, 0), minus = files.reduce((n, f) => n + f.minus, 0);
  return (
    <div class="changes">
      <aside aria-label="Changed files"><FileList files={files} issues={issues} viewed={viewed} jump={jump} /></aside>
      <section aria-label="Changed lines">
        <div class="diff-bar">
          <span><strong>{many(files.length, 'file')}</strong> <Delta plus={plus} minus={minus} /> <span class="muted">{viewed.size > 0 ? viewed.size + ' viewed' : ''}</span></span>
          <span class="diff-choices">
            <label class="check wide-only"><input type="checkbox" checked={view.split} onChange={(e) => choose({ split: e.currentTarget.checked })} /> side by side</label>
            <label class="check"><input type="checkbox" checked={view.wrap} onChange={(e) => choose({ wrap: e.currentTarget.checked })} /> wrap</label>
            <label class="check"><input type="checkbox" checked={view.space} onChange={(e) => choose({ space: e.currentTarget.checked })} /> ignore white space</label>
            <button type="button" class="small" onClick={() => void download(run)}>Raw patch</button>
          </span>
        </div>
        <VirtualList class={'diff' + (view.wrap ? ' wrap' : '') + (view.split ? ' split' : '')} label="Lines of the change" count={rows.length} handle={handle}
          height={(i) => heights[rows[i]?.kind ?? 'line']} name={(i) => i}
          row={(i) => {
            const row = rows[i];
            return row && <RowView row={row} viewed={viewed} tick={tick} issues={issues} open={(path, line, side, code) => setDraft({ run: run.run_id, path, line, side, code, text: '' })}
              change={(c) => { putComment(c); if (c.text.trim() === '') setDraft(c); else setDraft(undefined); }} close={(c) => { putComment({ ...c, text: '' }); setDraft(undefined); }} />;
          }} />
        {run.session_id && <FollowUp run={run} />}
        {!run.session_id && notes.length > 0 && <p class="muted">This run belongs to no session, so that its comments cannot become a follow-up. They are kept in this browser.</p>}
      </section>
    </div>
  );
}

const heights = { file: 44, note: 28, hunk: 26, line: 24, pair: 24, comment: 120 };

/** download saves the patch as the server has it. */
async function download(run: RunDetail): Promise<void> {
  const patch = await (await send('/api/runs/' + run.run_id + '/diff', { accept: 'text/x-diff' })).blob();
  const a = document.createElement('a');
  a.href = URL.createObjectURL(patch);
  a.download = run.run_id + '.diff';
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 60_000);
}
