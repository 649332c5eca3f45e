import type { VNode } from 'preact';
import type { LineComment } from '../../lib/comments';
import type { FilePatch, Line } from '../../lib/patch';
import { Delta } from '../../ui/parts';
import { Mark } from '../../ui/status';
import { Path, Safe } from '../../ui/text';
import type { Row } from './rows';

type Open = (path: string, line: number, side: 'old' | 'new', code: string) => void;

interface Props {
  row: Row; viewed: Set<string>; issues: Map<string, string[]>; tick: (path: string, on: boolean) => void;
  open: Open; change: (c: LineComment) => void; close: (c: LineComment) => void;
}

/** RowView draws one row of a change. */
export function RowView(p: Props): VNode {
  const { row } = p;
  switch (row.kind) {
    case 'file': return <FileHead file={row.file} {...p} />;
    case 'note': return <p class="diff-note muted">{row.text}</p>;
    case 'hunk': return <p class="diff-hunk"><span>{row.header}</span> <Safe text={row.context} /></p>;
    case 'line': return <OneLine line={row.line} path={row.path} open={p.open} />;
    case 'pair':
      return (
        <div class="diff-pair">
          {row.left ? <OneLine line={row.left} path={row.path} open={p.open} half="old" /> : <div class="diff-none" />}
          {row.right ? <OneLine line={row.right} path={row.path} open={p.open} half="new" /> : <div class="diff-none" />}
        </div>
      );
    case 'comment': return <CommentBox key={row.at.path + row.at.line} at={row.at} change={p.change} close={p.close} />;
  }
}

function FileHead({ file, viewed, issues, tick }: { file: FilePatch } & Props): VNode {
  const told = [...file.hazards, ...(issues.get(file.path) ?? [])];
  return (
    <div class="diff-file" data-testid="diff-file">
      <h3><span class={'letter change-' + file.change}>{file.change}</span> {file.change === 'renamed' && <><Path path={file.oldPath} /> → </>}<Path path={file.path} /> <Delta plus={file.plus} minus={file.minus} /></h3>
      <label class="check"><input type="checkbox" checked={viewed.has(file.path)} onChange={(e) => tick(file.path, e.currentTarget.checked)} /> viewed</label>
      {told.length > 0 && <ul class="hazards">{told.slice(0, 10).map((t) => <li><Mark tone="partial" /> <Safe text={t} /></li>)}</ul>}
    </div>
  );
}

const signs: Record<Line['kind'], string> = { ' ': ' ', '+': '+', '-': '−', '\\': ' ' };
const names: Record<Line['kind'], string> = { ' ': 'same', '+': 'plus', '-': 'minus', '\\': 'note' };

function OneLine({ line, path, open, half }: { line: Line; path: string; open: Open; half?: 'old' | 'new' }): VNode {
  const side = half ?? (line.kind === '-' ? 'old' : 'new');
  const number = side === 'old' ? line.old : line.new;
  const comment = (): void => open(path, number, line.kind === '-' ? 'old' : 'new', line.text);
  // A line may be as long as a file: more than this is nothing to read.
  const long = line.text.length > 5000;
  return (
    <div class={'diff-line l-' + names[line.kind]} data-testid="diff-line">
      {!half && side === 'new' && <span class="diff-number">{line.old || ''}</span>}
      {number > 0 ? <button type="button" class="diff-number" title="comment on this line" aria-label={'comment on ' + (line.kind === '-' ? 'deleted ' : '') + 'line ' + number} onClick={comment}>{number}</button> : <span class="diff-number" />}
      {!half && side === 'old' && <span class="diff-number" />}
      <span class="diff-sign">{signs[line.kind]}</span>
      <code class="diff-text"><Safe text={long ? line.text.slice(0, 5000) : line.text} />{long && <span class="muted"> … {line.text.length - 5000} more characters</span>}</code>
    </div>
  );
}

function CommentBox({ at, change, close }: { at: LineComment; change: (c: LineComment) => void; close: (c: LineComment) => void }): VNode {
  return (
    <div class="diff-comment" data-testid="line-comment">
      <textarea rows={2} aria-label={'Comment on line ' + at.line} placeholder="What should be different here? It goes with the follow-up." value={at.text}
        ref={(node) => { if (node && at.text === '' && !node.dataset['seen']) { node.dataset['seen'] = 'yes'; node.focus({ preventScroll: true }); } }}
        onInput={(e) => change({ ...at, text: e.currentTarget.value })} />
      <button type="button" class="small" onClick={() => close(at)}>Remove</button>
    </div>
  );
}
