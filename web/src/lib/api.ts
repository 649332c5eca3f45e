import { Store } from './store';
import { refused, token } from './login';
import type { ErrorBody } from './types';

/** Whether the server answers. */
export const online = new Store<boolean>(true);

/** Problem is an error that the server reported, or that it could not be reached. */
export class Problem extends Error {
  constructor(readonly status: number, readonly body: ErrorBody) { super(body.message); }
  get code(): string { return this.body.code ?? ''; }
}

const unreachable: ErrorBody = {
  type: 'bridge_failure', code: 'unreachable', message: 'The server cannot be reached.',
  hint: 'Start it with "sandboxrun serve", or look at its log. This page tries again by itself.',
};

/** problemOf turns anything thrown into a Problem. */
export function problemOf(err: unknown): Problem {
  if (err instanceof Problem) return err;
  return new Problem(0, { type: 'internal', message: err instanceof Error ? err.message : String(err) });
}

export interface Ask { method?: 'GET' | 'POST' | 'DELETE'; body?: unknown; accept?: string; signal?: AbortSignal | undefined; headers?: Record<string, string> }

/** send sends a request with the token of the page. It throws a Problem unless the answer is a success. */
export async function send(path: string, ask: Ask = {}): Promise<Response> {
  const used = token.get();
  const headers: Record<string, string> = { Authorization: 'Bearer ' + used, Accept: ask.accept ?? 'application/json', ...ask.headers };
  const request: RequestInit = { method: ask.method ?? 'GET', headers, cache: 'no-store', credentials: 'omit', redirect: 'error' };
  if (ask.signal) request.signal = ask.signal;
  if (ask.body !== undefined) {
    headers['Content-Type'] = 'application/json';
    request.body = typeof ask.body === 'string' ? ask.body : JSON.stringify(ask.body);
  }
  let answer: Response;
  try {
    answer = await fetch(path, request);
  } catch (err) {
    if (ask.signal?.aborted) throw err;
    online.set(false);
    throw new Problem(0, unreachable);
  }
  online.set(true);
  if (answer.ok) return answer;
  if (answer.status === 401) refused(used);
  let body: ErrorBody = { type: 'internal', message: 'The server answered with status ' + answer.status + '.' };
  try {
    const parsed = await answer.json() as { error?: ErrorBody };
    if (parsed.error) body = parsed.error;
  } catch { /* not a document of the server: the status says what there is to say */ }
  throw new Problem(answer.status, body);
}

/** get reads a JSON document. */
export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return await (await send(path, { signal })).json() as T;
}

/** post sends a JSON document and reads the answer. */
export async function post<T>(path: string, body: unknown, headers?: Record<string, string>): Promise<T> {
  const answer = await send(path, { method: 'POST', body, ...(headers ? { headers } : {}) });
  return await answer.json() as T;
}
