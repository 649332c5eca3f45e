import { remember, remembered } from './prefs';
import { Store } from './store';

/** A remark of a person on a line of a change. side says which file the number is of. */
export interface LineComment { run: string; path: string; line: number; side: 'old' | 'new'; code: string; text: string }

const most = 200;

/** Comments that were not sent yet, in this browser. */
export const comments = new Store<LineComment[]>(remembered<LineComment[]>('comments', []));

function keep(list: LineComment[]): void {
  const bounded = list.slice(-most);
  remember('comments', bounded.length === 0 ? null : bounded);
  comments.set(bounded);
}

function same(a: LineComment, b: LineComment): boolean { return a.run === b.run && a.path === b.path && a.line === b.line && a.side === b.side; }

/** putComment adds a comment, or changes the one at its place; an empty one is removed. */
export function putComment(c: LineComment): void {
  const others = comments.get().filter((o) => !same(o, c));
  keep(c.text.trim() === '' ? others : [...others, c]);
}

export function dropComments(run: string): void { keep(comments.get().filter((c) => c.run !== run)); }

/** commentText puts comments into words for the agent: where, what stands there, what is said of it. */
export function commentText(list: LineComment[]): string {
  if (list.length === 0) return '';
  const ordered = [...list].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : a.line - b.line));
  return 'Comments on the change:\n' + ordered.map((c) =>
    '\n' + c.path + ', ' + (c.side === 'old' ? 'deleted line ' : 'line ') + c.line + ':\n> ' + c.code.slice(0, 300) + '\n' + c.text.trim()).join('\n');
}
