import { useEffect } from 'preact/hooks';
import { get } from './api';
import { useLoad } from './load';
import { Store } from './store';
import type { Approval } from './types';

/** What waits for a person in all runs, the nearest deadline first. */
export const inbox = new Store<Approval[]>([]);

let wake: () => void = () => {};

/** lookAgain reads the inbox now. */
export function lookAgain(): void { wake(); }

/** useInbox keeps the inbox, the title and the icon of the page up to date. One component uses it. */
export function useInbox(): void {
  const { value, again } = useLoad('inbox', (signal) => get<Approval[]>('/api/approvals', signal), 1500);
  wake = again;
  useEffect(() => { if (value) inbox.set(value); }, [value]);
  const waiting = value?.length ?? 0;
  useEffect(() => {
    heading.waiting = waiting;
    showTitle();
    showIcon(waiting > 0);
  }, [waiting]);
}

const heading = { name: '', waiting: 0 };

/** setTitle names the screen in the title of the tab. */
export function setTitle(name: string): void {
  heading.name = name;
  showTitle();
}

function showTitle(): void {
  const asked = heading.waiting > 0 ? '(' + heading.waiting + ') ' : '';
  document.title = asked + (heading.name === '' ? '' : heading.name + ' – ') + 'sandboxrun';
}

const iconOf = document.querySelector<HTMLLinkElement>('link[rel=icon]');
const quietIcon = iconOf?.getAttribute('href') ?? '';
const asksIcon = 'data:image/svg+xml,' + encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect x="2" y="2" width="28" height="28" rx="7" fill="#1f3f8f"/>'
  + '<path d="M16 5l11 11-11 11L5 16z" fill="#ffb020"/></svg>');

function showIcon(asks: boolean): void { iconOf?.setAttribute('href', asks ? asksIcon : quietIcon); }
