import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { inbox } from '../lib/inbox';
import { Store, useStore } from '../lib/store';

/** What a screen says to a screen reader, politely; at most every five seconds. */
export const polite = new Store<string>('');

/** Announcer speaks for readers that cannot see: new requests at once, the state of the screen from time to time. */
export function Announcer(): VNode {
  const waiting = useStore(inbox);
  const text = useStore(polite);
  const seen = useRef(new Set<string>());
  const [asked, setAsked] = useState('');
  const [said, setSaid] = useState('');
  const last = useRef(0);
  useEffect(() => {
    const fresh = waiting.filter((a) => !seen.current.has(a.run_id + a.id));
    seen.current = new Set(waiting.map((a) => a.run_id + a.id));
    if (fresh.length > 0) setAsked(fresh.length === 1 ? 'An agent asks to use ' + (fresh[0]?.tool ?? 'a tool') : fresh.length + ' requests of agents wait');
  }, [waiting]);
  useEffect(() => {
    const timer = setTimeout(() => {
      last.current = Date.now();
      setSaid(text);
    }, Math.max(0, last.current + 5000 - Date.now()));
    return () => clearTimeout(timer);
  }, [text]);
  return <div class="only-spoken"><div role="status" aria-live="polite">{said}</div><div role="alert">{asked}</div></div>;
}
