import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { problemOf, type Problem } from './api';
import { token } from './login';
import { useStore } from './store';

export interface Loaded<T> { value: T | undefined; problem: Problem | undefined; again: () => void }

/**
 * useLoad reads something from the server when `key` changes and, where `every` is not 0, again after so many
 * milliseconds, five times slower while the tab is hidden. The last value stays while the server cannot be reached.
 */
export function useLoad<T>(key: string, read: (signal: AbortSignal) => Promise<T>, every = 0): Loaded<T> {
  const [state, setState] = useState<{ key: string; value?: T; problem?: Problem }>({ key });
  const signedIn = useStore(token) !== '';
  const reader = useRef(read);
  reader.current = read;
  const wake = useRef<() => void>(() => {});
  useEffect(() => {
    if (!signedIn) return;
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let busy = false;
    const tick = async (): Promise<void> => {
      if (busy || stop.signal.aborted) return;
      busy = true;
      clearTimeout(timer);
      try {
        const value = await reader.current(stop.signal);
        if (!stop.signal.aborted) setState({ key, value });
      } catch (err) {
        if (!stop.signal.aborted) setState((old) => (old.key === key ? { ...old, problem: problemOf(err) } : { key, problem: problemOf(err) }));
      }
      busy = false;
      if (every > 0 && !stop.signal.aborted) timer = setTimeout(() => void tick(), document.hidden ? every * 5 : every);
    };
    wake.current = () => void tick();
    const seen = (): void => { if (!document.hidden && every > 0) void tick(); };
    document.addEventListener('visibilitychange', seen);
    void tick();
    return () => {
      stop.abort();
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', seen);
    };
  }, [key, every, signedIn]);
  const again = useCallback(() => wake.current(), []);
  return state.key === key ? { value: state.value, problem: state.problem, again } : { value: undefined, problem: undefined, again };
}
