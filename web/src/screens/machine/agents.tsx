import type { VNode } from 'preact';
import { get } from '../../lib/api';
import { useLoad } from '../../lib/load';
import type { Agent, Profile } from '../../lib/types';
import { Copy, Facts, ProblemBox, Waiting } from '../../ui/parts';
import { Badge } from '../../ui/status';
import { Safe } from '../../ui/text';

const found: Record<string, string> = { LOGIN_DETECTED: 'installed and logged in', INSTALLATION_FOUND: 'installed', NOT_FOUND: 'not installed; the boxes have their own' };

/** Agents lists the agents, whether each can work here, and the fields of its variants with their origin. */
export function Agents(): VNode {
  const { value, problem, again } = useLoad('agents', (s) => get<Agent[]>('/api/agents', s));
  const profiles = useLoad('profiles', (s) => get<Profile[]>('/api/profiles', s)).value ?? [];
  return (
    <>
      <div class="head"><h1>Agents</h1></div>
      {problem && !value && <ProblemBox problem={problem} again={again} />}
      {!value && !problem && <Waiting what="Reading the agents" />}
      <div class="agents">{[...(value ?? [])].sort((a, b) => Number(b.key_set) - Number(a.key_set)).map((a) => <One key={a.name} agent={a} variants={profiles.filter((p) => p.agent === a.name)} />)}</div>
    </>
  );
}

function One({ agent, variants }: { agent: Agent; variants: Profile[] }): VNode {
  return (
    <section class="card" aria-labelledby={'agent-' + agent.name}>
      <div class="agent-head">
        <h2 id={'agent-' + agent.name}>{agent.title || agent.name} <span class="muted">{agent.version}</span></h2>
        {agent.key_set ? <Badge tone="success" word="has a key" /> : <Badge tone="waiting" word="no key" />}
      </div>
      <Facts rows={[
        ['name', <code>{agent.name}</code>],
        ['model of', agent.provider || <span class="muted">no provider is configured; it can use {agent.providers.join(', ')}</span>],
        ['on this host', found[agent.availability.status] ?? agent.availability.status],
      ]} />
      {!agent.key_set && <Copy label="set it up" text={'sandboxrun agents setup ' + agent.name} />}
      <details class="more">
        <summary>Variants: {agent.variants.join(', ')}</summary>
        {variants.map((v) => (
          <div>
            <h3>{v.variant}</h3>
            {v.fields.length === 0
              ? <p class="muted">Nothing differs from the agent's own defaults.</p>
              : <table class="plain"><thead><tr><th scope="col">Field</th><th scope="col">Value</th><th scope="col">From</th></tr></thead><tbody>{v.fields.map((f) => <tr><th scope="row"><code>{f.name}</code></th><td><Safe text={typeof f.value === 'string' ? f.value : JSON.stringify(f.value)} /></td><td class="muted"><Safe text={f.origin ?? ''} /></td></tr>)}</tbody></table>}
          </div>
        ))}
      </details>
    </section>
  );
}
