import { get } from './api';
import { Store } from './store';
import type { RunEvent } from './types';

const page = 150; // events that are read at once
const most = 300; // events that are drawn at once: opening and following a run cost the same for any length

/** What is drawn of a run's journal: a part without gaps. */
export interface Shown {
  events: RunEvent[];
  newest: number; // number of the newest event there is
  following: boolean; // the part ends with the newest event, and new ones are added
  loading: boolean;
}

/** Journal reads a run's events in parts, and follows the newest while the reader is there. */
export class Journal {
  readonly shown = new Store<Shown>({ events: [], newest: 0, following: true, loading: true });
  private wanted = 0; // counts what is being read: an older answer is dropped

  constructor(private run: string) {}

  /** toNewest shows the newest events and follows. It returns the number of the newest one. */
  async toNewest(): Promise<number> {
    const events = await this.read('before=9007199254740991');
    if (!events) return this.shown.get().newest;
    const newest = Math.max(this.shown.get().newest, events[events.length - 1]?.seq ?? 0);
    this.shown.set({ events, newest, following: true, loading: false });
    return newest;
  }

  /** around shows the events about a number. */
  async around(seq: number): Promise<void> {
    const events = await this.read('from=' + Math.max(1, seq - 30));
    if (events) this.keep(events);
  }

  /** earlier adds the events before those that are shown. It reports whether there were any. */
  async earlier(): Promise<boolean> {
    const first = this.shown.get().events[0]?.seq ?? 1;
    if (first <= 1 || this.shown.get().loading) return false;
    const events = await this.read('before=' + first);
    if (events) this.keep([...events, ...this.shown.get().events].slice(0, most));
    return (events?.length ?? 0) > 0;
  }

  /** later adds the events after those that are shown. */
  async later(): Promise<void> {
    const now = this.shown.get();
    const last = now.events[now.events.length - 1]?.seq ?? 0;
    if (now.loading || last >= now.newest) return;
    const events = await this.read('from=' + (last + 1));
    if (events) this.keep([...this.shown.get().events, ...events].slice(-most));
  }

  /** hold stops adding new events: the reader looks at older ones. */
  hold(): void {
    const now = this.shown.get();
    if (now.following) this.shown.set({ ...now, following: false });
  }

  /** follow adds new events again, where none is missing in between. */
  follow(): void {
    const now = this.shown.get();
    if (!now.following && now.events[now.events.length - 1]?.seq === now.newest) this.shown.set({ ...now, following: true });
  }

  /** add takes events as they come. */
  add(events: RunEvent[]): void {
    const now = this.shown.get();
    const newest = Math.max(now.newest, events[events.length - 1]?.seq ?? 0);
    const last = now.events[now.events.length - 1]?.seq ?? 0;
    const fresh = events.filter((e) => e.seq > last);
    if (!now.following || now.loading && now.events.length === 0 || fresh.length === 0) { this.shown.set({ ...now, newest }); return; }
    const whole = fresh[0]?.seq === last + 1 ? [...now.events, ...fresh] : fresh;
    this.shown.set({ ...now, newest, events: whole.length > most ? whole.slice(-most) : whole });
  }

  private keep(events: RunEvent[]): void {
    const newest = Math.max(this.shown.get().newest, events[events.length - 1]?.seq ?? 0);
    this.shown.set({ events, newest, following: false, loading: false });
  }

  /** read returns nothing when something else was wanted meanwhile. */
  private async read(where: string): Promise<RunEvent[] | undefined> {
    const mine = ++this.wanted;
    this.shown.set({ ...this.shown.get(), loading: true });
    try {
      const answer = await get<{ events: RunEvent[]; last: number }>('/api/runs/' + this.run + '/events?limit=' + page + '&' + where);
      if (mine !== this.wanted) return undefined;
      const now = this.shown.get();
      this.shown.set({ ...now, newest: Math.max(now.newest, answer.last), loading: false });
      return answer.events;
    } catch (err) {
      if (mine === this.wanted) this.shown.set({ ...this.shown.get(), loading: false });
      throw err;
    }
  }
}
