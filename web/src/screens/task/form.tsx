import type { ComponentChildren, VNode } from 'preact';
import { useState } from 'preact/hooks';
import { get } from '../../lib/api';
import { many } from '../../lib/format';
import { useLoad } from '../../lib/load';
import type { Agent, Workspace, WorkspaceState } from '../../lib/types';
import { Safe } from '../../ui/text';
import { agentOf, fromLines, linesOf, plainLines, type Task } from './draft';

interface Props {
  task: Task; set: (part: Partial<Task>) => void; more: string[]; setMore: (more: string[]) => void;
  agents: Agent[]; repositories: Workspace[]; errorAt: (pointer: string) => string;
}

/** Form is the task in words. What it has no field for stays as it is in the JSON. */
export function Form(p: Props): VNode {
  const { task, set, errorAt } = p;
  const command = task.execution_mode === 'command';
  const context = task.context ?? {};
  return (
    <>
      <Field name="repo" label="Repository" error={errorAt('/context/repo_root')} help="The absolute path of a git repository on the server's machine.">
        <input id="repo" list="repositories" value={context.repo_root ?? ''} spellcheck={false} onInput={(e) => set({ context: { ...context, repo_root: e.currentTarget.value } })} />
        <datalist id="repositories">{p.repositories.slice(0, 200).map((w) => <option value={w.root}>{w.name}</option>)}</datalist>
      </Field>
      <RepositoryState known={p.repositories.find((w) => w.root === context.repo_root)} />
      <div class="fields">
        <Field name="base" label="Begin from" error={errorAt('/context/base')}><input id="base" list="branches" placeholder="HEAD" spellcheck={false} value={context.base ?? ''} onInput={(e) => set({ context: { ...context, base: e.currentTarget.value } })} /></Field>
        <Field name="mode" label="Who works" error={errorAt('/execution_mode')}>
          <select id="mode" value={task.execution_mode ?? 'code'} onChange={(e) => set({ execution_mode: e.currentTarget.value })}>
            <option value="code">an agent</option><option value="mixed">an agent, then commands</option><option value="command">commands only</option>
          </select>
        </Field>
      </div>
      <label class="check"><input type="checkbox" checked={context.include_dirty === true} onChange={(e) => set({ context: { ...context, include_dirty: e.currentTarget.checked || undefined } as Task['context'] })} /> begin with my uncommitted changes</label>
      {!command && <AgentFields {...p} />}
      <Field name="objective" label="Objective" error={errorAt('/objective')} help="What is wanted, in one or two sentences.">
        <textarea id="objective" rows={2} value={task.objective ?? ''} onInput={(e) => set({ objective: e.currentTarget.value })} />
      </Field>
      {!command && (
        <Field name="instructions" label="Instructions" error={errorAt('/instructions')} help="How to do it: what the agent is told.">
          <textarea id="instructions" rows={5} value={task.instructions ?? ''} onInput={(e) => set({ instructions: e.currentTarget.value })} />
        </Field>
      )}
      {task.execution_mode !== 'code' && <Lines name="commands" label="Commands" error={errorAt('/suggested_commands')} help="One a line, run in the box; what they change counts." value={task.suggested_commands} set={(v) => set({ suggested_commands: v })} mono />}
      <Mixed name="criteria" label="Acceptance criteria" error={errorAt('/acceptance_criteria')} value={task.acceptance_criteria} set={(v) => set({ acceptance_criteria: v })}
        help="One a line. “$ npm test” is run in a fresh box and must succeed; a sentence is for the agent, and checked where something can check it." />
      <Mixed name="constraints" label="Constraints" error={errorAt('/constraints')} value={task.constraints} set={(v) => set({ constraints: v })} help="One a line: a sentence, or JSON that names a check." />
      <details class="more">
        <summary>Set-up, network, limits, approvals</summary>
        <Lines name="setup" label="Set-up commands" error={errorAt('/setup_commands')} help="One a line, run before the work with the hosts below reachable: npm ci." value={task.setup_commands} set={(v) => set({ setup_commands: v })} mono />
        <Lines name="hosts" label="Hosts open during set-up" error={errorAt('/box')} help="One a line. Everything else is closed, always." value={task.box?.network?.allow} set={(v) => set({ box: { ...task.box, network: { ...task.box?.network, allow: v } } })} mono />
        <Lines name="protected" label="Protected paths" error={errorAt('/protected_paths')} help="One glob a line that the change must not touch." value={task.protected_paths} set={(v) => set({ protected_paths: v })} mono />
        <div class="fields">
          <Field name="limit" label="Limit in seconds" error={errorAt('/max_runtime_seconds')}><input id="limit" type="number" min={1} max={86400} placeholder="600" value={task.max_runtime_seconds ?? ''} onInput={(e) => set({ max_runtime_seconds: e.currentTarget.value === '' ? undefined : Number(e.currentTarget.value) } as Partial<Task>)} /></Field>
          {!command && (
            <Field name="approvals" label="The agent's tools" error={errorAt('/approvals')}>
              <select id="approvals" value={task.approvals?.policy ?? ''} onChange={(e) => set({ approvals: { ...task.approvals, policy: e.currentTarget.value } })}>
                <option value="">as its variant says</option><option value="auto">allowed without asking</option><option value="ask">ask me first</option><option value="deny">denied unless a rule allows</option>
              </select>
            </Field>
          )}
        </div>
        <label class="check"><input type="checkbox" checked={task.baseline === true} onChange={(e) => set({ baseline: e.currentTarget.checked || undefined } as Partial<Task>)} /> measure the base commit, too</label>
      </details>
    </>
  );
}

/** RepositoryState names the branches of a repository, and uncommitted work, which a run does not see unless it is asked to. */
function RepositoryState({ known }: { known: Workspace | undefined }): VNode | null {
  const id = known?.id ?? '';
  const { value } = useLoad('workspace/' + id, async (signal) => (id === '' ? undefined : get<WorkspaceState>('/api/workspaces/' + id, signal)));
  if (!value) return null;
  const d = value.dirty;
  return (
    <>
      <datalist id="branches">{(value.branches ?? []).slice(0, 200).map((b) => <option value={b} />)}</datalist>
      {value.problem && <p class="tone-failed"><Safe text={value.problem} /></p>}
      {d && !d.clean && (
        <p class="tone-partial">
          {d.unknown ? 'Whether this repository has uncommitted changes could not be found out.' : <>This repository has uncommitted changes ({many(d.staged + d.modified + d.deleted + d.untracked, 'file')}: <Safe text={(d.names ?? []).slice(0, 4).join(', ')} />{(d.names ?? []).length > 4 ? ', …' : ''}). The run begins from a commit and does not see them, unless you say so below.</>}
        </p>
      )}
    </>
  );
}

function AgentFields({ task, set, agents, more, setMore, errorAt }: Props): VNode {
  const chosen = agentOf(task);
  const info = agents.find((a) => a.name === chosen.name);
  const put = (part: Partial<typeof chosen>): void => {
    const next = { ...chosen, ...part };
    const old = typeof task.agent === 'object' ? task.agent : {};
    set({ agent: next.name === '' && next.variant === '' && next.model === '' ? '' : next.variant === '' && next.model === '' && Object.keys(old).length <= 3 ? next.name : { ...old, ...next } });
  };
  const choices = agents.map((a) => <option value={a.name}>{a.title || a.name}{a.key_set ? '' : ' (no key)'}</option>);
  return (
    <>
      <div class="fields three">
        <Field name="agent" label="Agent" error={errorAt('/agent')}>
          <select id="agent" value={chosen.name} onChange={(e) => put({ name: e.currentTarget.value, variant: '' })}><option value="">of the configuration</option>{choices}</select>
        </Field>
        <Field name="variant" label="Variant" error=""><select id="variant" value={chosen.variant} disabled={!info} onChange={(e) => put({ variant: e.currentTarget.value })}><option value="">DEFAULT</option>{(info?.variants ?? []).filter((v) => v !== 'DEFAULT').map((v) => <option value={v}>{v}</option>)}</select></Field>
        <Field name="model" label="Model" error=""><input id="model" value={chosen.model} placeholder="its default" spellcheck={false} onInput={(e) => put({ model: e.currentTarget.value })} /></Field>
      </div>
      {more.map((m, i) => (
        <div class="fields compare-agent">
          <Field name={'agent' + i} label={'Compare with'} error={errorAt('/executor/' + (i + 1))}>
            <select id={'agent' + i} value={m} onChange={(e) => setMore(more.map((o, j) => (j === i ? e.currentTarget.value : o)))}><option value="">nobody</option>{choices}</select>
          </Field>
          <button type="button" class="small" onClick={() => setMore(more.filter((_, j) => j !== i))}>Remove</button>
        </div>
      ))}
      {more.length < 3 && <p><button type="button" class="link" onClick={() => setMore([...more, ''])}>Compare with another agent</button></p>}
    </>
  );
}

/** Field is one field with its label, its help and its error. */
function Field({ name, label, help, error, children }: { name: string; label: string; help?: string; error: string; children: ComponentChildren }): VNode {
  return (
    <div class={'field-box' + (error === '' ? '' : ' wrong')}>
      <label for={name}>{label}</label>
      {children}
      {error !== '' ? <p class="field-wrong" role="alert">{error}</p> : help ? <p class="field-help muted">{help}</p> : null}
    </div>
  );
}

interface ListProps<T> { name: string; label: string; help: string; error: string; value: T[] | undefined; set: (v: T[]) => void; mono?: boolean }

function Lines(p: ListProps<string>): VNode {
  const [text, setText] = useState((p.value ?? []).join('\n'));
  const shown = plainLines(text).join('\n') === (p.value ?? []).join('\n') ? text : (p.value ?? []).join('\n');
  return (
    <Field name={p.name} label={p.label} help={p.help} error={p.error}>
      <textarea id={p.name} rows={2} class={p.mono ? 'mono' : ''} spellcheck={false} value={shown} onInput={(e) => { setText(e.currentTarget.value); p.set(plainLines(e.currentTarget.value)); }} />
    </Field>
  );
}

function Mixed(p: ListProps<unknown>): VNode {
  const [text, setText] = useState(linesOf(p.value));
  const shown = linesOf(fromLines(text)) === linesOf(p.value) ? text : linesOf(p.value);
  return (
    <Field name={p.name} label={p.label} help={p.help} error={p.error}>
      <textarea id={p.name} rows={3} value={shown} onInput={(e) => { setText(e.currentTarget.value); p.set(fromLines(e.currentTarget.value)); }} />
    </Field>
  );
}
