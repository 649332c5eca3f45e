import { Store } from './store';
import { remember, remembered } from './prefs';

/** The token of this page; "" asks for one. It is kept for this address and port only, and never in a cookie. */
export const token = new Store<string>(remembered('token', ''));

/** Why the page asks for a token again. */
export const loginReason = new Store<string>('');

export function keepToken(value: string): void {
  remember('token', value === '' ? null : value);
  loginReason.set('');
  token.set(value);
}

/** refused is called when the server refuses the token: the page asks for another over what was typed. */
export function refused(used: string): void {
  if (used === '' || used !== token.get()) return;
  loginReason.set('The server does not accept this token any more. What you have typed is kept.');
  remember('token', null);
  token.set('');
}

/** takeCode returns the one-time code of a sign-in link and takes it out of the address and the history. */
export function takeCode(): string {
  const found = /^#code=([A-Za-z0-9_-]{8,200})$/.exec(location.hash);
  if (!found) return '';
  history.replaceState(null, '', location.pathname + '#/');
  return found[1] ?? '';
}

/** redeem exchanges a one-time code for a token of this page. */
export async function redeem(code: string): Promise<void> {
  const answer = await fetch('/api/login', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ code }) });
  if (!answer.ok) {
    loginReason.set('This link was used before or is too old. Make a new one with: sandboxrun open');
    return;
  }
  keepToken((await answer.json() as { token: string }).token);
}

/** verify reports whether the server accepts a token. */
export async function verify(value: string): Promise<boolean> {
  const answer = await fetch('/api/runs?limit=1', { headers: { Authorization: 'Bearer ' + value } });
  return answer.ok;
}
