import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Approval } from '../../lib/types';
import { Safe } from '../../ui/text';

/** Input shows the whole input of a request, and calls seen once its end was on the screen. */
export function Input({ asked, seen }: { asked: Approval; seen: () => void }): VNode {
  const end = useRef<HTMLSpanElement>(null);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!end.current) return;
    const watch = new IntersectionObserver((entries) => {
      if (entries.some((e) => e.isIntersecting)) { watch.disconnect(); seen(); }
    }, { threshold: 1 });
    watch.observe(end.current);
    return () => watch.disconnect();
  }, [asked.digest]);
  return (
    <div class="approval-input" ref={box} data-testid="approval-input" tabIndex={0} role="group" aria-label="Exact input">
      {fieldsOf(asked.input).map(([name, text]) => (
        <div class="field">
          {name !== '' && <span class="field-name"><Safe text={name} /></span>}
          <pre><Safe text={text} /></pre>
        </div>
      ))}
      <span ref={end} class="end-mark">end of input</span>
    </div>
  );
}

/** The fields of an input with the text of each: strings as they are, everything else as JSON. */
function fieldsOf(input: unknown): [string, string][] {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return [['', written(input)]];
  return Object.entries(input).map(([name, value]) => [name, written(value)]);
}

function written(value: unknown): string { return typeof value === 'string' ? value : JSON.stringify(value, null, 2) ?? ''; }

/** useMatches computes the digest again from what is shown. */
export function useMatches(asked: Approval): 'yes' | 'no' | '' {
  const [matches, setMatches] = useState<'yes' | 'no' | ''>('');
  useEffect(() => {
    let current = true;
    void (async () => {
      const bytes = new TextEncoder().encode(asked.tool + '\0' + JSON.stringify(asked.input));
      const sum = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
      const hex = [...sum].map((b) => b.toString(16).padStart(2, '0')).join('');
      if (current) setMatches(hex === asked.digest ? 'yes' : 'no');
    })().catch(() => {});
    return () => { current = false; };
  }, [asked.digest]);
  return matches;
}
