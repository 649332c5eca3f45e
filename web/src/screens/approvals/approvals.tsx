import type { VNode } from 'preact';
import { inbox } from '../../lib/inbox';
import { link } from '../../lib/route';
import { useStore } from '../../lib/store';
import { Empty } from '../../ui/parts';
import { Card } from './card';

/** Approvals lists what waits for a person in all runs, the nearest deadline first. */
export function Approvals(): VNode {
  const waiting = useStore(inbox);
  return (
    <>
      <div class="head"><h1>Approvals</h1></div>
      {waiting.length === 0 && (
        <Empty title="Nothing waits for you.">
          <p>An agent asks here before it uses a tool when its task has the approval policy <code>ask</code>. The title of this tab counts what waits. <a href={link(['runs'])}>See all runs</a></p>
        </Empty>
      )}
      <div class="cards">{waiting.map((a) => <Card key={a.run_id + a.id} asked={a} withRun />)}</div>
    </>
  );
}
