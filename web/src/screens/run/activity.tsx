import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { problemOf, type Problem } from '../../lib/api';
import { count, many } from '../../lib/format';
import { inbox } from '../../lib/inbox';
import { Journal } from '../../lib/journal';
import { extend, readOutline, type Outline } from '../../lib/outline';
import { useStore } from '../../lib/store';
import { Follower, type Following } from '../../lib/stream';
import type { RunDetail } from '../../lib/types';
import { polite } from '../../ui/announce';
import { ProblemBox, Waiting } from '../../ui/parts';
import { Card } from '../approvals/card';
import { EventRow } from './event';
import { Find } from './find';
import { FollowUp } from './followup';
import { Files, OutlineList } from './outline';

const words: Record<Following, string> = {
  connecting: 'connecting…', live: 'live', waiting: 'connection lost, trying again', ended: 'complete', gone: 'this run was removed',
};

/** Activity follows a run: phases and files beside what is said and printed. */
export function Activity({ run, at }: { run: RunDetail; at: number }): VNode {
  const begun = run.state !== 'queued' && run.state !== 'refused';
  if (!begun) {
    return <p class="waiting">{run.state === 'queued' ? 'The run has not begun. What it does will appear here.' : 'The run was refused and never began.'}</p>;
  }
  return <Begun run={run} at={at} />;
}

function Begun({ run, at }: { run: RunDetail; at: number }): VNode {
  const journal = useMemo(() => new Journal(run.run_id), [run.run_id]);
  const [outline, setOutline] = useState<Outline>({ phases: [], files: [] });
  const [following, setFollowing] = useState<Following>('connecting');
  const [problem, setProblem] = useState<Problem>();
  const [marked, setMarked] = useState(at);
  const waiting = useStore(inbox).filter((a) => a.run_id === run.run_id);
  useEffect(() => {
    const stop = new AbortController();
    let follower: Follower | undefined;
    void (async () => {
      try {
        const newest = await journal.toNewest();
        const over = journal.shown.get().events.at(-1)?.kind === 'run_ended';
        if (at > 0) await journal.around(at);
        const first = await readOutline(run.run_id, stop.signal);
        if (stop.signal.aborted) return;
        setOutline(first);
        const known = Math.max(newest, ...first.phases.flatMap((p) => [p.seq, ...p.calls.map((c) => c.seq)]));
        if (over) {
          setFollowing('ended');
          return;
        }
        follower = new Follower(run.run_id, newest + 1, (events) => {
          journal.add(events);
          const fresh = events.filter((e) => e.seq > known);
          if (fresh.length > 0) setOutline((old) => extend(old, fresh));
        });
        setFollowing(follower.state.get());
        follower.state.follow(() => { if (follower) setFollowing(follower.state.get()); });
      } catch (err) {
        if (!stop.signal.aborted) setProblem(problemOf(err));
      }
    })();
    return () => { stop.abort(); follower?.stop(); };
  }, [journal]);
  const jump = (seq: number): void => {
    setMarked(seq);
    journal.around(seq).catch((err: unknown) => setProblem(problemOf(err)));
  };
  return (
    <div class="activity">
      <aside class="activity-outline" aria-label="Outline">
        <OutlineList outline={outline} running={run.phase ?? ''} jump={jump} />
      </aside>
      <section class="activity-main" aria-label="Conversation and output">
        <div class="activity-bar">
          <Find run={run.run_id} jump={jump} />
          <span class={'following ' + following} role="status">{words[following]}</span>
        </div>
        {waiting.map((a) => <Card key={a.id} asked={a} />)}
        {problem && <ProblemBox problem={problem} />}
        <Events journal={journal} marked={marked} active={following !== 'ended'} />
        {run.session_id && <FollowUp run={run} />}
      </section>
      <aside class="activity-side" aria-label="Files"><Files outline={outline} run={run} /></aside>
    </div>
  );
}

/** Events draws a part of the journal. New ones are added only while the reader is at the end. */
function Events({ journal, marked, active }: { journal: Journal; marked: number; active: boolean }): VNode {
  const shown = useStore(journal.shown);
  const box = useRef<HTMLDivElement>(null);
  const stuck = useRef(true);
  const shownMark = useRef(0);
  const first = shown.events[0]?.seq ?? 0;
  const last = shown.events[shown.events.length - 1]?.seq ?? 0;
  const later = shown.newest - last;
  const anchor = useRef<{ seq: number; top: number } | undefined>(undefined);
  useLayoutEffect(() => {
    const at = box.current;
    if (!at) return;
    if (marked > 0 && marked !== shownMark.current && first <= marked && marked <= last) {
      shownMark.current = marked;
      stuck.current = false;
      at.querySelector('[data-seq="' + marked + '"]')?.scrollIntoView({ block: 'center' });
    } else if (shown.following && stuck.current) {
      at.scrollTop = at.scrollHeight;
    } else if (anchor.current) {
      // What was read stays where it was, whatever was added above it.
      const row = at.querySelector<HTMLElement>('[data-seq="' + anchor.current.seq + '"]');
      if (row) at.scrollTop += row.offsetTop - at.scrollTop - anchor.current.top;
    }
    anchor.current = undefined;
  }, [shown, marked]);
  useEffect(() => polite.set((active ? 'under way, ' : 'ended, ') + many(shown.newest, 'event')), [shown.newest, active]);
  const remember = (seq: number): void => {
    const row = box.current?.querySelector<HTMLElement>('[data-seq="' + seq + '"]');
    if (row && box.current) anchor.current = { seq, top: row.offsetTop - box.current.scrollTop };
  };
  const scrolled = (): void => {
    const at = box.current;
    if (!at) return;
    const below = at.scrollHeight - at.scrollTop - at.clientHeight;
    stuck.current = below < 8;
    if (stuck.current && later === 0) journal.follow();
    else if (below > 40) journal.hold();
    if (at.scrollTop < 200 && first > 1) { remember(first); void journal.earlier().catch(() => {}); }
    else if (below < 200 && later > 0 && !shown.following) { remember(last); void journal.later().catch(() => {}); }
  };
  const newest = (): void => {
    stuck.current = true;
    void journal.toNewest().catch(() => {});
    box.current?.focus();
  };
  return (
    <div class="events-frame">
      <div class="events" ref={box} tabIndex={0} role="log" aria-live="off" aria-label="Events of the run" onScroll={scrolled}>
        {first > 1 && <p class="events-edge muted">{many(first - 1, 'earlier event')}: scroll up to read them</p>}
        {shown.events.length === 0 && (shown.loading ? <Waiting what="Reading the newest events" /> : <p class="muted">Nothing has happened yet.</p>)}
        {shown.events.map((e) => <EventRow key={e.seq} event={e} marked={e.seq === marked} />)}
        {active && shown.following && <p class="events-edge muted">waiting for what happens next…</p>}
      </div>
      <p class="events-foot">
        <span class="muted num">{shown.events.length > 0 ? count(first) + '–' + count(last) + ' of ' + many(shown.newest, 'event') : ''}</span>
        {(later > 0 || !shown.following) && shown.events.length > 0 && <button type="button" class="small" onClick={newest}>{later > 0 ? many(later, 'newer event') + ' ↓' : 'Jump to the newest ↓'}</button>}
      </p>
    </div>
  );
}
