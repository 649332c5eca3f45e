import type { LineComment } from '../../lib/comments';
import type { FilePatch, Line } from '../../lib/patch';

/** How a change is shown; kept in this browser. */
export interface View { split: boolean; wrap: boolean; space: boolean }

/** One drawn row of a change. */
export type Row =
  | { kind: 'file'; file: FilePatch; index: number }
  | { kind: 'note'; text: string; index: number }
  | { kind: 'hunk'; header: string; context: string; index: number }
  | { kind: 'line'; line: Line; index: number; path: string }
  | { kind: 'pair'; left?: Line; right?: Line; index: number; path: string }
  | { kind: 'comment'; at: LineComment; index: number };

/** rowsOf lays out all files of a change. Files that were viewed are folded. */
export function rowsOf(files: FilePatch[], view: View, folded: Set<string>, notes: LineComment[]): Row[] {
  const rows: Row[] = [];
  const commented = new Map<string, LineComment[]>();
  for (const n of notes) commented.set(n.path, [...(commented.get(n.path) ?? []), n]);
  files.forEach((file, index) => {
    rows.push({ kind: 'file', file, index });
    if (folded.has(file.path)) return;
    if (file.binary) rows.push({ kind: 'note', text: 'Not text: nothing to show here.', index });
    else if (file.hunks.length === 0) rows.push({ kind: 'note', text: file.change === 'renamed' ? 'Renamed, with the same content.' : 'No lines changed.', index });
    for (const h of file.hunks) {
      rows.push({ kind: 'hunk', header: h.header, context: h.context, index });
      const lines = view.space ? withoutSpace(h.lines) : h.lines;
      if (view.split) pairs(rows, lines, file.path, index, commented.get(file.path));
      else {
        for (const line of lines) {
          rows.push({ kind: 'line', line, index, path: file.path });
          for (const c of commented.get(file.path) ?? []) if (isAt(c, line)) rows.push({ kind: 'comment', at: c, index });
        }
      }
    }
  });
  return rows;
}

function isAt(c: LineComment, line: Line): boolean { return c.side === 'old' ? line.kind === '-' && line.old === c.line : line.kind !== '-' && line.new === c.line; }

/** pairs puts deleted lines beside the added ones that took their place. */
function pairs(rows: Row[], lines: Line[], path: string, index: number, notes: LineComment[] | undefined): void {
  let gone: Line[] = [], come: Line[] = [];
  const push = (row: { left?: Line; right?: Line }): void => {
    rows.push({ kind: 'pair', ...row, index, path });
    for (const c of notes ?? []) if ((row.left && isAt(c, row.left)) || (row.right && isAt(c, row.right))) rows.push({ kind: 'comment', at: c, index });
  };
  const flush = (): void => {
    for (let i = 0; i < Math.max(gone.length, come.length); i++) {
      const left = gone[i], right = come[i];
      push({ ...(left ? { left } : {}), ...(right ? { right } : {}) });
    }
    gone = []; come = [];
  };
  for (const line of lines) {
    if (line.kind === '-') { if (come.length > 0) flush(); gone.push(line); }
    else if (line.kind === '+') come.push(line);
    else { flush(); push({ left: line, right: line }); }
  }
  flush();
}

/** withoutSpace shows lines that differ in white space only as unchanged. */
function withoutSpace(lines: Line[]): Line[] {
  const out: Line[] = [];
  let gone: Line[] = [], come: Line[] = [];
  const squeezed = (l: Line): string => l.text.replace(/\s+/g, '');
  const flush = (): void => {
    let from = 0;
    while (from < gone.length && from < come.length && squeezed(gone[from]!) === squeezed(come[from]!)) {
      out.push({ kind: ' ', text: come[from]!.text, old: gone[from]!.old, new: come[from]!.new });
      from++;
    }
    out.push(...gone.slice(from), ...come.slice(from));
    gone = []; come = [];
  };
  for (const line of lines) {
    if (line.kind === '-') { if (come.length > 0) flush(); gone.push(line); }
    else if (line.kind === '+') come.push(line);
    else { flush(); out.push(line); }
  }
  flush();
  return out;
}
