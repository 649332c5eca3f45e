import type { ComponentChildren, VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Problem } from '../lib/api';
import { ago } from '../lib/format';
import { useNow } from '../lib/store';
import { Safe } from './text';

/** Empty stands where nothing is yet, and says what to do. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }): VNode {
  return <div class="empty"><p class="empty-title">{title}</p><div class="empty-text">{children}</div></div>;
}

/** Waiting is shown while something is read: a sentence, after a moment. */
export function Waiting({ what }: { what: string }): VNode { return <p class="waiting" role="status">{what}…</p>; }

/** ProblemBox shows an error of the server: what is wrong, where, and what to do. */
export function ProblemBox({ problem, again }: { problem: Problem; again?: () => void }): VNode {
  const { message, hint, details } = problem.body;
  return (
    <div class="problem" role="alert">
      <p class="problem-title"><Safe text={message} /></p>
      {details && details.length > 0 && (
        <ul>{details.slice(0, 50).map((d) => <li>{d.path && <code><Safe text={d.path} /></code>} <Safe text={d.message} /></li>)}</ul>
      )}
      {hint && <p class="muted"><Safe text={hint} /></p>}
      {again && <button type="button" onClick={again}>Try again</button>}
    </div>
  );
}

/** Copy is a command or an address with a button that copies it. */
export function Copy({ text, label }: { text: string; label?: string }): VNode {
  const [done, setDone] = useState('');
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setDone('copied');
    } catch {
      setDone('select it and copy by hand');
    }
    setTimeout(() => setDone(''), 2000);
  };
  return (
    <div class="copy">
      {label && <span class="copy-label">{label}</span>}
      <code class="copy-text"><Safe text={text} /></code>
      <button type="button" class="small" aria-label={'Copy ' + (label ?? text.slice(0, 60))} onClick={() => void copy()}>{done || 'copy'}</button>
    </div>
  );
}

/** Ago is a moment as the time since, with the exact time as its title. */
export function Ago({ time }: { time: string }): VNode {
  const now = useNow(10_000);
  return <time dateTime={time} title={new Date(time).toLocaleString()}>{ago(time, now)}</time>;
}

/** Facts is a list of names and values in two columns. */
export function Facts({ rows }: { rows: [string, ComponentChildren][] }): VNode {
  return <dl class="facts">{rows.filter(([, v]) => v !== '' && v !== undefined && v !== null && v !== false).map(([k, v]) => <div><dt>{k}</dt><dd>{v}</dd></div>)}</dl>;
}

/** Delta is how many lines were added and deleted. */
export function Delta({ plus, minus }: { plus: number; minus: number }): VNode {
  return <span class="delta"><span class="plus">+{plus}</span> <span class="minus">−{minus}</span></span>;
}
