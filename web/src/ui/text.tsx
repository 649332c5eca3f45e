import type { ComponentChildren, VNode } from 'preact';
import { useState } from 'preact/hooks';
import { pieces, plain } from '../lib/visible';

/** Safe shows text of a box: as text, with characters that cannot be seen by their number. */
export function Safe({ text }: { text: string }): VNode {
  const parts = pieces(text);
  if (parts.length === 1 && !parts[0]?.hidden) return <>{text}</>;
  return <>{parts.map((p) => (p.hidden ? <mark class="hidden-char" title="a character that cannot be seen">{p.text}</mark> : p.text))}</>;
}

/** Path shows the name of a file; it never runs into its neighbours. */
export function Path({ path }: { path: string }): VNode { return <bdi class="path"><Safe text={path} /></bdi>; }

const addresses = /https?:\/\/[^\s<>"'`)\]}]+/g;

/** Linked shows text of a box with a separate control behind each address; the address itself is text. */
export function Linked({ text }: { text: string }): VNode {
  const out: ComponentChildren[] = [];
  let at = 0;
  for (const found of text.matchAll(addresses)) {
    out.push(<Safe text={text.slice(at, found.index)} />, <Address address={found[0]} />);
    at = found.index + found[0].length;
    if (out.length > 200) break;
  }
  out.push(<Safe text={text.slice(at)} />);
  return <>{out}</>;
}

function Address({ address }: { address: string }): VNode {
  const [asked, setAsked] = useState(false);
  let target: URL | undefined;
  try { target = new URL(address); } catch { return <Safe text={address} />; }
  if (target.protocol !== 'http:' && target.protocol !== 'https:') return <Safe text={address} />;
  return (
    <span class="address">
      <Safe text={address} />
      {asked
        ? <a class="chip" href={target.href} target="_blank" rel="noopener noreferrer nofollow">go to {plain(target.host)}</a>
        : <button type="button" class="chip" aria-label={'show a link to ' + plain(target.host)} onClick={() => setAsked(true)}>open…</button>}
    </span>
  );
}

/** Prose shows what an agent wrote in Markdown: paragraphs, code, lists, emphasis. Links and images stay text. */
export function Prose({ text }: { text: string }): VNode {
  const blocks: VNode[] = [];
  for (const [i, part] of text.split(/^```[^\n]*\n?/m).entries()) {
    if (i % 2 === 1) {
      blocks.push(<pre class="code" tabIndex={0}><Safe text={part.replace(/\n$/, '')} /></pre>);
      continue;
    }
    for (const block of part.split(/\n{2,}/)) if (block.trim() !== '') blocks.push(<Block text={block.replace(/^\n+|\s+$/g, '')} />);
  }
  return <div class="prose">{blocks}</div>;
}

function Block({ text }: { text: string }): VNode {
  const heading = /^#{1,6}\s+([^\n]*)$/.exec(text);
  if (heading) return <p class="heading"><Inline text={heading[1] ?? ''} /></p>;
  const lines = text.split('\n');
  const item = /^\s*(?:[-*+]|\d{1,3}[.)])\s+/;
  if (lines.every((l) => item.test(l) || /^\s{2,}/.test(l)) && item.test(lines[0] ?? '')) {
    const items: string[] = [];
    for (const line of lines) {
      if (item.test(line)) items.push(line.replace(item, ''));
      else items[items.length - 1] += '\n' + line.trim();
    }
    const rows = items.map((i) => <li><Inline text={i} /></li>);
    return /^\s*\d/.test(text) ? <ol>{rows}</ol> : <ul>{rows}</ul>;
  }
  return <p><Inline text={text} /></p>;
}

function Inline({ text }: { text: string }): VNode {
  const parts = text.split(/(`[^`\n]+`|\*\*[^*\n]+\*\*)/);
  return (
    <>
      {parts.map((p) => {
        if (p.length > 2 && p.startsWith('`') && p.endsWith('`')) return <code><Safe text={p.slice(1, -1)} /></code>;
        if (p.length > 4 && p.startsWith('**') && p.endsWith('**')) return <strong><Safe text={p.slice(2, -2)} /></strong>;
        return <Linked text={p} />;
      })}
    </>
  );
}
