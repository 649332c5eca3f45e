import Anser from 'anser';
import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import { Safe } from './text';

// Sequences of terminals: operating system commands and strings with their end, control sequences, two-byte ones. All but
// colours (control sequences ending in m) are dropped.
const strings = /\u001b[\]P^_X][^\u0007\u001b]*(?:\u0007|\u001b\\)?/g;
const controls = /\u001b\[[0-?]*[ -/]*[@-~]/g;
const others = /\u001b[ -/]*[0-Z\\-~]/g;

const mostBytes = 200_000;
const colours = new Set(['red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white', 'black'].flatMap((c) => ['ansi-' + c, 'ansi-bright-' + c]));

/** Output shows what a command printed, with its colours and without doing what its control sequences say. */
export function Output({ text }: { text: string }): VNode {
  const spans = useMemo(() => parse(text), [text]);
  return (
    <>
      {spans.map((s) => {
        const style = [colours.has(s.fg) ? s.fg : '', s.bold ? 'bold' : ''].join(' ').trim();
        return style === '' ? <Safe text={s.text} /> : <span class={style}><Safe text={s.text} /></span>;
      })}
    </>
  );
}

interface Span { text: string; fg: string; bold: boolean }

function parse(text: string): Span[] {
  const clean = text.slice(0, mostBytes).replace(strings, '').replace(controls, (s) => (/^\u001b\[[0-9;:]*m$/.test(s) ? s : ''))
    .split('\n').map(lastWritten).join('\n');
  if (!clean.includes('\u001b')) return [{ text: clean, fg: '', bold: false }];
  const found = Anser.ansiToJson(clean, { json: true, remove_empty: true, use_classes: true });
  return found.slice(0, 2000).map((s) => ({ text: s.content.replace(others, ''), fg: s.fg ?? '', bold: s.decorations?.includes('bold') ?? false }));
}

/** What a terminal shows of a line that was written over with carriage returns. */
function lastWritten(line: string): string {
  const whole = line.endsWith('\r') ? line.slice(0, -1) : line;
  return whole.slice(whole.lastIndexOf('\r') + 1);
}
