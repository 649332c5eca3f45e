import type { VNode } from 'preact';
import type { Route } from '../lib/route';
import { link } from '../lib/route';
import { Empty } from '../ui/parts';
import { Approvals } from './approvals/approvals';
import { Agents } from './machine/agents';
import { Machine } from './machine/machine';
import { Run } from './run/run';
import { Runs } from './runs';
import { Compare } from './session/compare';
import { SessionScreen } from './session/session';
import { NewTask } from './task/newtask';

/** A screen: what it shows, its name, the entry of the navigation it belongs to, and what makes it another screen. */
export interface Screen { view: VNode; title: string; place: string; key: string }

/** screenOf finds the screen of an address. */
export function screenOf(at: Route): Screen {
  const [first = 'runs', second = '', third = ''] = at.parts;
  switch (first) {
    case 'runs':
      if (second) return { view: <Run id={second} tab={third} query={at.query} />, title: 'Run', place: 'runs', key: 'run/' + second };
      return { view: <Runs query={at.query} />, title: 'Runs', place: 'runs', key: 'runs' };
    case 'new':
      return { view: <NewTask />, title: 'New task', place: 'new', key: 'new' };
    case 'sessions':
      if (second) return { view: <SessionScreen id={second} />, title: 'Session', place: 'runs', key: 'session/' + second };
      break;
    case 'compare':
      if (second) return { view: <Compare id={second} />, title: 'Comparison', place: 'runs', key: 'compare/' + second };
      break;
    case 'agents':
      return { view: <Agents />, title: 'Agents', place: 'agents', key: 'agents' };
    case 'machine':
      return { view: <Machine />, title: 'Machine', place: 'machine', key: 'machine' };
    case 'approvals':
      return { view: <Approvals />, title: 'Approvals', place: 'approvals', key: 'approvals' };
  }
  return { view: <Nowhere />, title: 'Not found', place: '', key: 'nowhere' };
}

function Nowhere(): VNode {
  return <><h1>Nothing is here</h1><Empty title="This address belongs to no screen."><a href={link(['runs'])}>See all runs</a></Empty></>;
}
