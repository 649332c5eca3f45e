import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { get, problemOf, send, type Problem } from '../../lib/api';
import { useLoad } from '../../lib/load';
import { keepToken } from '../../lib/login';
import { applyTheme, currentTheme, type Theme } from '../../lib/prefs';
import { link } from '../../lib/route';
import type { Diagnosis, RunView } from '../../lib/types';
import { Ago, Empty, ProblemBox, Waiting } from '../../ui/parts';
import { Badge, type Tone } from '../../ui/status';
import { Safe } from '../../ui/text';

const levels: Record<string, [Tone, string]> = { PASS: ['success', 'good'], CAUTION: ['partial', 'caution'], FAIL: ['failed', 'fails'] };

interface SignedIn { id: string; label?: string; created_at?: string; last_used_at?: string; current?: boolean }

/** Machine shows what the doctor finds, what waits, who is signed in, and how the page looks. */
export function Machine(): VNode {
  const { value, problem, again } = useLoad('doctor', (s) => get<Diagnosis>('/api/doctor', s));
  const queue = useLoad('queue', (s) => get<{ runs: RunView[] }>('/api/runs?state=queued&limit=100', s), 3000).value?.runs ?? [];
  return (
    <>
      <div class="head"><h1>Machine</h1></div>
      <div class="machine">
        <section class="card"><h2>Checks</h2>
          {problem && <ProblemBox problem={problem} again={again} />}
          {!value && !problem && <Waiting what="The machine is examined; this may take a minute" />}
          <ul class="plain-list judged">
            {[...(value?.checks ?? [])].sort((a, b) => rank(b.level) - rank(a.level)).map((c) => {
              const [tone, word] = levels[c.level] ?? ['quiet', c.level];
              return <li><Badge tone={tone} word={word} /><div><p><strong><Safe text={c.name} /></strong> <Safe text={c.message} /></p>{c.hint && <p class="muted"><Safe text={c.hint} /></p>}</div></li>;
            })}
          </ul>
        </section>
        <div class="machine-side">
          <section class="card"><h2>Queue</h2>
            {queue.length === 0 ? <p class="muted">Nothing waits.</p> : <ol>{[...queue].sort((a, b) => (a.queued?.position ?? 0) - (b.queued?.position ?? 0)).map((r) => <li><a href={link(['runs', r.run_id])}><Safe text={r.objective} /></a> <span class="muted"><Safe text={r.queued?.waiting_for ?? ''} /></span></li>)}</ol>}
          </section>
          <Looks />
          <SignIns />
        </div>
      </div>
    </>
  );
}

function rank(level: string): number { return level === 'FAIL' ? 2 : level === 'CAUTION' ? 1 : 0; }

function Looks(): VNode {
  const [theme, setTheme] = useState<Theme>(currentTheme());
  return (
    <section class="card"><h2>This page</h2>
      <label for="theme">Theme</label>
      <select id="theme" value={theme} onChange={(e) => { const t = e.currentTarget.value as Theme; applyTheme(t); setTheme(t); }}>
        <option value="system">as the system</option><option value="light">light</option><option value="dark">dark</option>
      </select>
    </section>
  );
}

/** SignIns lists the pages that are signed in, and signs them out. */
function SignIns(): VNode {
  const { value, problem, again } = useLoad('web-sessions', (s) => get<SignedIn[]>('/api/web-sessions', s));
  const [failed, setFailed] = useState<Problem>();
  const end = async (id: string): Promise<void> => {
    try { await send('/api/web-sessions/' + encodeURIComponent(id), { method: 'DELETE' }); again(); } catch (err) { setFailed(problemOf(err)); }
  };
  return (
    <section class="card"><h2>Signed-in pages</h2>
      {value && value.length === 0 && <Empty title="No page was signed in by link."><p>This one uses the token of the server.</p></Empty>}
      {problem && problem.status !== 404 && <ProblemBox problem={problem} again={again} />}
      <ul class="plain-list">
        {(value ?? []).map((v) => (
          <li class="signed-in"><span><Safe text={v.label || v.id} />{v.current ? ' (this page)' : ''} {v.last_used_at && <span class="muted">used <Ago time={v.last_used_at} /></span>}</span> <button type="button" class="small" onClick={() => void end(v.id)}>Sign out</button></li>
        ))}
      </ul>
      {failed && <ProblemBox problem={failed} />}
      <button type="button" onClick={() => keepToken('')}>Sign this page out</button>
    </section>
  );
}
