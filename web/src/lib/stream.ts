import { token } from './login';
import { Store } from './store';
import type { RunEvent } from './types';

/** How the page follows a run. */
export type Following = 'connecting' | 'live' | 'waiting' | 'ended' | 'gone';

const handshakeBound = 10_000; // milliseconds until a connection that does not open is given up
const batchEvery = 60; // milliseconds between two deliveries, so that a flood of events is drawn in steps
const longestWait = 30_000;

/**
 * Follower receives every event of a run from a number on, once and in order, over any number of connections. Only the
 * run's last event ends it: a connection that closes says nothing about the run.
 */
export class Follower {
  readonly state = new Store<Following>('connecting');
  private socket: WebSocket | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private batchTimer: ReturnType<typeof setTimeout> | undefined;
  private batch: RunEvent[] = [];
  private tries = 0;
  private stopped = false;
  private unfollow: () => void;

  constructor(private run: string, private next: number, private deliver: (events: RunEvent[]) => void) {
    this.unfollow = token.follow(() => this.reconnect());
    addEventListener('online', this.reconnect);
    document.addEventListener('visibilitychange', this.seen);
    this.connect();
  }

  stop(): void {
    this.stopped = true;
    this.unfollow();
    removeEventListener('online', this.reconnect);
    document.removeEventListener('visibilitychange', this.seen);
    clearTimeout(this.timer);
    clearTimeout(this.batchTimer);
    this.socket?.close();
  }

  private seen = (): void => { if (!document.hidden && this.state.get() === 'waiting') this.reconnect(); };

  private reconnect = (): void => {
    if (this.stopped || this.over()) return;
    this.tries = 0;
    this.connect();
  };

  private over(): boolean { return this.state.get() === 'ended' || this.state.get() === 'gone'; }

  private connect(): void {
    clearTimeout(this.timer);
    const old = this.socket;
    this.socket = undefined;
    old?.close();
    if (this.stopped || token.get() === '') return;
    this.state.set('connecting');
    const address = location.origin.replace(/^http/, 'ws') + '/api/runs/' + this.run + '/stream/ws?from=' + this.next;
    const socket = new WebSocket(address, ['sandboxrun.v1', 'bearer.' + token.get()]);
    this.socket = socket;
    this.timer = setTimeout(() => socket.close(), handshakeBound);
    socket.onopen = () => {
      clearTimeout(this.timer);
      if (this.socket === socket) this.state.set('live');
    };
    socket.onmessage = (m: MessageEvent<string>) => { if (this.socket === socket) this.receive(m.data); };
    socket.onclose = (e) => { if (this.socket === socket) this.closed(e.code); };
  }

  private receive(text: string): void {
    let event: RunEvent;
    try { event = JSON.parse(text) as RunEvent; } catch { return; }
    if (typeof event.seq !== 'number' || event.seq < this.next) return;
    this.tries = 0;
    this.next = event.seq + 1;
    this.batch.push(event);
    if (event.kind === 'run_ended') this.flush();
    else this.batchTimer ??= setTimeout(() => this.flush(), batchEvery);
  }

  private flush(): void {
    clearTimeout(this.batchTimer);
    this.batchTimer = undefined;
    const events = this.batch;
    this.batch = [];
    if (events.length === 0 || this.stopped) return;
    if (events[events.length - 1]?.kind === 'run_ended') this.state.set('ended');
    this.deliver(events);
  }

  private closed(code: number): void {
    clearTimeout(this.timer);
    if (this.stopped || this.over()) return;
    if (code === 4404) { this.state.set('gone'); return; }
    this.state.set('waiting');
    const wait = Math.min(longestWait, 500 * 2 ** this.tries) * (0.7 + Math.random() * 0.6);
    this.tries++;
    this.timer = setTimeout(() => this.connect(), wait);
  }
}
