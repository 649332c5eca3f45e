import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { go } from '../lib/route';

const keys: [string, string][] = [
  ['g r', 'runs'], ['g a', 'approvals'], ['g n', 'new task'], ['g g', 'agents'], ['g m', 'machine'], ['↑ ↓ or j k', 'next or previous row'],
  ['Enter', 'open the row'], ['/', 'find'], ['Ctrl+Enter', 'send what was typed'], ['?', 'this list'], ['Esc', 'close, or leave a field'],
];

/** typing reports whether a key belongs to what is being typed. */
export function typing(e: KeyboardEvent): boolean {
  const at = e.target;
  return at instanceof HTMLElement && (at.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(at.tagName));
}

/** useKeys listens for the keys that work on every screen. */
export function useKeys(help: () => void): void {
  useEffect(() => {
    let leader = 0;
    const pressed = (e: KeyboardEvent): void => {
      if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented) return;
      if (typing(e)) {
        if (e.key === 'Escape' && e.target instanceof HTMLElement) e.target.blur();
        return;
      }
      if (Date.now() - leader < 1200) {
        leader = 0;
        const to = ({ r: 'runs', a: 'approvals', n: 'new', g: 'agents', m: 'machine' } as Record<string, string>)[e.key];
        if (to) { go([to]); e.preventDefault(); }
        return;
      }
      if (e.key === 'g') leader = Date.now();
      else if (e.key === '?') help();
      else if (e.key === '/') {
        const field = document.querySelector<HTMLInputElement>('input[type=search]');
        if (field) { field.focus(); field.select(); e.preventDefault(); }
      }
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, []);
}

/** Keys lists the keys of the page. */
export function Keys({ close }: { close: () => void }): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => { dialog.current?.showModal(); }, []);
  return (
    <dialog ref={dialog} class="sheet" aria-labelledby="keys-title" onClose={close}>
      <h2 id="keys-title">Keys</h2>
      <table class="plain"><tbody>{keys.map(([k, what]) => <tr><th scope="row"><kbd>{k}</kbd></th><td>{what}</td></tr>)}</tbody></table>
      <p class="muted">A key never allows or denies what an agent asks for, except inside its card.</p>
      <button type="button" onClick={() => dialog.current?.close()}>Close</button>
    </dialog>
  );
}
