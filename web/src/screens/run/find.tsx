import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { get } from '../../lib/api';
import { count } from '../../lib/format';
import type { RunEvent } from '../../lib/types';

const most = 500;

/** Find searches the whole journal on the server, newest first, and shows the place of each event found. */
export function Find({ run, jump }: { run: string; jump: (seq: number) => void }): VNode {
  const [words, setWords] = useState('');
  const [found, setFound] = useState<{ words: string; seqs: number[]; at: number }>();
  const [failed, setFailed] = useState(false);
  useEffect(() => { setFound(undefined); }, [run]);
  const show = (next: { words: string; seqs: number[]; at: number }): void => {
    setFound(next);
    const seq = next.seqs[next.at];
    if (seq !== undefined) jump(seq);
  };
  const step = async (by: number): Promise<void> => {
    if (words.trim() === '') return;
    if (found && found.words === words && found.seqs.length > 0) {
      show({ ...found, at: (found.at + by + found.seqs.length) % found.seqs.length });
      return;
    }
    try {
      const page = await get<{ events: RunEvent[] }>('/api/runs/' + run + '/events?before=9007199254740991&limit=' + most + '&q=' + encodeURIComponent(words));
      setFailed(false);
      show({ words, seqs: page.events.map((e) => e.seq).reverse(), at: 0 });
    } catch { setFailed(true); }
  };
  const n = found?.seqs.length ?? 0;
  return (
    <form class="find" role="search" onSubmit={(e) => { e.preventDefault(); void step(1); }}>
      <input type="search" data-testid="find" aria-label="Find in all events of the run" placeholder="Find in all events  /" value={words} onInput={(e) => { setWords(e.currentTarget.value); setFound(undefined); }} maxLength={200}
        onKeyDown={(e) => { if (e.key === 'Enter' && e.shiftKey) { e.preventDefault(); void step(-1); } }} />
      <span class="find-count num" role="status">{failed ? 'not possible now' : found ? (n === 0 ? 'not found' : count(found.at + 1) + ' of ' + count(n) + (n === most ? '+' : '')) : ''}</span>
      {n > 1 && <><button type="button" class="small" aria-label="newer place" onClick={() => void step(-1)}>↓</button><button type="button" class="small" aria-label="older place" onClick={() => void step(1)}>↑</button></>}
    </form>
  );
}
