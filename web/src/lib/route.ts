import { Store } from './store';

/** Where the page is: the parts of the fragment's path, and its query. */
export interface Route { parts: string[]; query: URLSearchParams }

function read(): Route {
  const text = location.hash.startsWith('#/') ? location.hash.slice(2) : '';
  const [path = '', query = ''] = text.split('?', 2);
  return { parts: path.split('/').filter((p) => p !== '').map(decode), query: new URLSearchParams(query) };
}

function decode(part: string): string {
  try { return decodeURIComponent(part); } catch { return part; }
}

export const route = new Store<Route>(read());
addEventListener('hashchange', () => route.set(read()));

/** link returns the address of a screen: "#/runs/ID?x=y". */
export function link(parts: string[], query: Record<string, string> = {}): string {
  const filled = Object.entries(query).filter(([, v]) => v !== '');
  const tail = filled.length === 0 ? '' : '?' + new URLSearchParams(filled).toString();
  return '#/' + parts.map(encodeURIComponent).join('/') + tail;
}

export function go(parts: string[], query: Record<string, string> = {}): void { location.hash = link(parts, query); }

/** replace changes the address without a step in the history. */
export function replace(parts: string[], query: Record<string, string> = {}): void {
  history.replaceState(null, '', link(parts, query));
  route.set(read());
}
