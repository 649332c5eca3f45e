import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { online } from '../lib/api';
import { inbox, setTitle, useInbox } from '../lib/inbox';
import { token } from '../lib/login';
import { link, route } from '../lib/route';
import { useStore } from '../lib/store';
import { screenOf } from '../screens/all';
import { SignIn } from '../screens/signin';
import { Keys, useKeys } from './keys';
import { Announcer } from './announce';
import { Mark } from './status';

const places: [string, string][] = [['runs', 'Runs'], ['approvals', 'Approvals'], ['new', 'New task'], ['agents', 'Agents'], ['machine', 'Machine']];

/** Shell is the frame of every screen. Signing in again lies over what was typed. */
export function Shell(): VNode {
  const signedIn = useStore(token) !== '';
  const [begun, setBegun] = useState(signedIn);
  useEffect(() => { if (signedIn) setBegun(true); }, [signedIn]);
  return (
    <>
      {begun && <Frame covered={!signedIn} />}
      {!signedIn && <SignIn again={begun} />}
    </>
  );
}

function Frame({ covered }: { covered: boolean }): VNode {
  const at = useStore(route);
  const [help, setHelp] = useState(false);
  const main = useRef<HTMLElement>(null);
  useInbox();
  useKeys(() => setHelp(true));
  const screen = screenOf(at);
  useEffect(() => setTitle(screen.title), [screen.title]);
  const key = screen.key;
  const first = useRef(true);
  useEffect(() => {
    // A new screen begins at its top, and the keyboard with it.
    if (first.current) { first.current = false; return; }
    scrollTo(0, 0);
    main.current?.focus({ preventScroll: true });
  }, [key]);
  return (
    <div class="frame" inert={covered}>
      <a class="skip" href="#main" onClick={(e) => { e.preventDefault(); main.current?.focus(); }}>Skip to the content</a>
      <header class="top">
        <a class="brand" href={link(['runs'])} aria-label="sandboxrun, all runs"><Logo /><span class="brand-name">sandboxrun</span></a>
        <nav aria-label="Screens">
          {places.map(([part, name]) => (
            <a href={link([part])} aria-current={screen.place === part ? 'page' : undefined}>
              {name}{part === 'approvals' && <Waits />}
            </a>
          ))}
        </nav>
        <div class="top-end">
          <Connection />
          <button type="button" class="quiet keys-button" aria-label="Keys of this page" onClick={() => setHelp(true)}>?</button>
        </div>
      </header>
      <main id="main" ref={main} tabIndex={-1} key={key}>{screen.view}</main>
      <Announcer />
      {help && <Keys close={() => setHelp(false)} />}
    </div>
  );
}

function Waits(): VNode | null {
  const waiting = useStore(inbox);
  if (waiting.length === 0) return null;
  return <span class="waits" title={waiting.length + ' wait for an answer'}><Mark tone="asking" />{waiting.length}</span>;
}

/** Connection always says whether the server answers. */
function Connection(): VNode {
  const up = useStore(online);
  return (
    <span class={'connection ' + (up ? 'up' : 'down')} data-testid="connection" role="status">
      <svg viewBox="0 0 10 10" width="9" height="9" aria-hidden="true">{up ? <circle cx="5" cy="5" r="4" fill="currentColor" /> : <path d="M1 1l8 8M9 1L1 9" stroke="currentColor" stroke-width="2" />}</svg>
      <span class="connection-word">{up ? 'connected' : 'no connection, trying again'}</span>
    </span>
  );
}

function Logo(): VNode {
  return (
    <svg viewBox="0 0 32 32" width="22" height="22" aria-hidden="true">
      <rect x="2" y="2" width="28" height="28" rx="7" class="logo-back" />
      <path d="M9 11l6 5-6 5M17 22h7" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round" />
    </svg>
  );
}
