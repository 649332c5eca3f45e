import { useEffect, useState } from 'preact/hooks';

/** A value that components follow. */
export class Store<T> {
  private readers = new Set<() => void>();
  constructor(private current: T) {}
  get(): T { return this.current; }
  set(next: T): void {
    if (Object.is(next, this.current)) return;
    this.current = next;
    for (const read of [...this.readers]) read();
  }
  follow(read: () => void): () => void {
    this.readers.add(read);
    return () => { this.readers.delete(read); };
  }
}

/** useStore renders its component again whenever the value changes. */
export function useStore<T>(store: Store<T>): T {
  const [value, setValue] = useState(store.get());
  useEffect(() => {
    setValue(() => store.get());
    return store.follow(() => setValue(() => store.get()));
  }, [store]);
  return value;
}

/** useNow renders its component again every so many milliseconds, while the tab is visible, and gives the time. */
export function useNow(every = 1000): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => { if (!document.hidden) setNow(Date.now()); }, every);
    return () => clearInterval(timer);
  }, [every]);
  return now;
}
