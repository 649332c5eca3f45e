import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Copy } from '../ui/parts';
import { keepToken, loginReason, verify } from '../lib/login';
import { useStore } from '../lib/store';

/** SignIn asks for the token. It lies over the page when the server has refused the one in use. */
export function SignIn({ again }: { again: boolean }): VNode {
  const reason = useStore(loginReason);
  const [value, setValue] = useState('');
  const [wrong, setWrong] = useState('');
  const [busy, setBusy] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const submit = async (e: Event): Promise<void> => {
    e.preventDefault();
    const given = value.trim();
    if (given === '') { setWrong('Paste the token first.'); return; }
    setBusy(true);
    try {
      if (await verify(given)) { keepToken(given); return; }
      setWrong('The server does not know this token.');
    } catch {
      setWrong('The server cannot be reached. Is "sandboxrun serve" running?');
    }
    setBusy(false);
    field.current?.focus();
  };
  const form = (
      <form class="card signin-card" data-testid="sign-in" onSubmit={(e) => void submit(e)}>
        <h1 id="signin-title">{again ? 'Sign in again' : 'Sign in to sandboxrun'}</h1>
        {reason && <p role="alert" class="signin-reason">{reason}</p>}
        <p>On the machine where the server runs, this makes a link that signs you in:</p>
        <Copy text="sandboxrun open" />
        <label for="token">Or paste the token of the server</label>
        <input id="token" ref={field} type="password" autocomplete="off" spellcheck={false} value={value} aria-describedby="token-where" aria-invalid={wrong !== ''}
          onInput={(e) => { setValue(e.currentTarget.value); setWrong(''); }} />
        {wrong && <p role="alert" class="field-wrong">{wrong}</p>}
        <p id="token-where" class="muted">It is the content of the file <code>token</code> in the state directory. The page keeps it in this browser, for this address and port only: no cookie.</p>
        <button type="submit" class="primary" disabled={busy}>{busy ? 'Asking the server…' : 'Sign in'}</button>
      </form>
  );
  return again
    ? <div class="signin over" role="dialog" aria-modal="true" aria-labelledby="signin-title">{form}</div>
    : <main class="signin">{form}</main>;
}
