import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Problem } from '../../lib/api';
import { Safe } from '../../ui/text';
import { lineOf, type Draft, type Task } from './draft';

/** JsonEditor is the whole task as JSON, with the line of each error. */
export function JsonEditor({ draft, task, change, problem }: { draft: Draft; task: Task; change: (d: Draft) => void; problem: Problem | undefined }): VNode {
  const [text, setText] = useState(() => draft.json ?? JSON.stringify(task, null, 2));
  const [unreadable, setUnreadable] = useState('');
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => { if (draft.json === undefined && JSON.stringify(draft.task) !== tidy(text)) setText(JSON.stringify(task, null, 2)); }, [draft.task]);
  const typed = (value: string): void => {
    setText(value);
    try {
      const parsed = JSON.parse(value) as unknown;
      if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) throw new Error('A task is an object: { … }.');
      setUnreadable('');
      change({ task: parsed as Task, more: draft.more });
    } catch (err) {
      setUnreadable(err instanceof Error ? err.message : String(err));
      change({ ...draft, json: value });
    }
  };
  const show = (line: number): void => {
    const at = area.current;
    if (!at || line < 1) return;
    const begin = text.split('\n').slice(0, line - 1).join('\n').length + (line > 1 ? 1 : 0);
    const end = text.indexOf('\n', begin);
    at.focus();
    at.setSelectionRange(begin, end < 0 ? text.length : end);
  };
  const errors = unreadable !== '' ? [] : (problem?.body.details ?? []).map((d) => ({ ...d, path: d.path.replace(/^\/task(?=\/)/, '') })).map((d) => ({ ...d, line: lineOf(text, d.path) }));
  return (
    <div class="json">
      <label for="json">Task</label>
      <textarea id="json" ref={area} class="mono" rows={26} spellcheck={false} wrap="off" value={text} aria-invalid={unreadable !== '' || errors.length > 0} aria-describedby="json-errors" onInput={(e) => typed(e.currentTarget.value)} />
      <div id="json-errors">
        {unreadable !== '' && <p class="field-wrong" role="alert">This is no JSON yet: <Safe text={unreadable} /></p>}
        {errors.length > 0 && <ul class="json-errors">{errors.map((e) => <li><button type="button" class="link" onClick={() => show(e.line)}>line {e.line}</button> <code><Safe text={e.path || '/'} /></code> <Safe text={e.message} /></li>)}</ul>}
      </div>
    </div>
  );
}

function tidy(text: string): string {
  try { return JSON.stringify(JSON.parse(text)); } catch { return ''; }
}
