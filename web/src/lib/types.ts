// The forms of what the server sends; only the fields that the page reads.

export type RunState = 'queued' | 'starting' | 'running' | 'ended' | 'refused' | 'crashed';
export type Status = 'success' | 'partial' | 'failed';

export interface RunView {
  run_id: string; task_id: string; state: RunState; status?: Status; phase?: string;
  summary: string; objective: string; repo_root: string; workspace_id: string;
  agent: string; variant: string; model: string; session_id?: string;
  queued?: { position: number; waiting_for: string };
  approvals_pending: number; started_at: string; ended_at?: string; limit_seconds: number;
  branch?: string; files: number; additions: number; deletions: number;
  tokens: { input: number; output: number };
  issues: string[]; attempts: number; superseded_by?: string; compare_id?: string;
}

export interface Judged { text: string; check: string; verdict: 'pass' | 'fail' | 'unverifiable'; evidence: string; rest?: string }
/** One thing that the agent says it ran or passed, beside what was measured of the same. */
export interface ClaimRow {
  source: 'tool_call' | 'final_message'; text: string; command?: string; says: string; measured: string; exit_code: number | null; agrees: boolean | null;
}
export interface Issue { type: string; code: string; description: string; suggested_action: string; path?: string }
export interface FileChange {
  path: string; change_type: 'modified' | 'added' | 'deleted'; old_path?: string; additions?: number; deletions?: number;
  binary?: boolean; mode_change?: string; highlights?: string[];
}
export interface CommandRun {
  command: string; exit_code: number | null; stdout_excerpt: string; stderr_excerpt: string; source: 'runner' | 'agent';
  phase: string; duration_ms: number; timed_out?: boolean; truncated?: boolean;
}

export interface Result {
  status: Status; summary: string; files_changed: FileChange[]; files_changed_omitted?: number; commands_run: CommandRun[];
  tests: { passed: boolean | null; details: string };
  issues: Issue[]; constraints: Judged[]; acceptance: Judged[]; claims?: ClaimRow[];
  git: {
    base_commit?: string; commit?: string; branch?: string; patch?: string;
    refused?: { code: string; path: string; description: string }[];
  };
  agent?: {
    name: string; variant?: string; cli_version?: string; model?: string; claim?: string;
    usage: { requests?: number; input_tokens?: number; output_tokens?: number; claimed_cost_usd?: number };
  };
  session?: { id: string; run_index: number; resumed: boolean; retry_of?: string };
  box?: {
    engine: string; runtime: string; tier: string; image: string;
    network: { provider?: string; setup_allow?: string[]; denied?: string[] };
    cleanup: { complete: boolean; left?: string[] };
  };
  timing: Record<string, number>;
  notes_for_human?: string; started_at: string; ended_at: string;
}

export interface RunDetail extends RunView { plan?: unknown; result?: Result; error?: ErrorBody }

export interface ErrorBody {
  type: string; code?: string; message: string; hint?: string; details?: { path: string; message: string }[];
}

export interface RunEvent { seq: number; time: string; run: string; phase: string; kind: string; data: Record<string, unknown> }

export interface Question { id: string; text?: string; question?: string; header?: string; options?: { label: string; description?: string }[]; multiple?: boolean }

export interface Approval {
  run_id: string; id: string; state: string; tool: string; action: string; input: unknown; input_bytes: number;
  complete: boolean; digest: string; questions?: Question[]; asked_at: string; deadline: string;
  answer?: { decision: string; reason?: string; by?: string; at?: string };
}

export interface Agent {
  name: string; executor: string; title: string; package: string; version: string; provider: string; providers: string[];
  key_set: boolean; secrets: string[]; variants: string[]; setup: string;
  availability: { status: string; last_login?: string; config_found?: boolean };
}
export interface ProfileField { name: string; value: unknown; origin?: string; source?: string; help?: string; allowed?: string[] }
export interface Profile { agent: string; executor: string; variant: string; fields: ProfileField[] }
export interface Workspace { id: string; root: string; name: string; runs: number; sessions: number }
export interface WorkspaceState extends Workspace {
  head?: string; branches?: string[]; problem?: string;
  dirty?: { clean: boolean; staged: number; modified: number; deleted: number; untracked: number; names?: string[]; unknown?: unknown };
}
export interface Diagnosis { ok: boolean; checks: { name: string; level: 'PASS' | 'CAUTION' | 'FAIL'; message: string; hint?: string }[] }
