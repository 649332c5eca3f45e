package document

// Severity says what an issue means for the status of a run.
type Severity int

// Severities, the gravest last.
const (
	SeverityNote      Severity = iota // worth knowing; the status does not change
	SeverityFlaw                      // the run is partial at best
	SeverityFruitless                 // a flaw where the tree changed, fatal where it did not
	SeverityFatal                     // the run failed
)

func (s Severity) String() string {
	return [...]string{"note", "flaw", "fruitless", "fatal"}[s]
}

// Issue codes. They are part of the wire contract: codes are added, never renamed.
const (
	CodeInterrupted   = "interrupted"
	CodeCancelled     = "cancelled"
	CodeRuntimeLimit  = "runtime_limit"
	CodeMemoryLimit   = "memory_limit"
	CodePIDsLimit     = "pids_limit"
	CodeDiskLimit     = "disk_limit"
	CodeOutputLimit   = "output_limit"
	CodeTokenLimit    = "token_limit"
	CodeRequestLimit  = "request_limit"
	CodeEngineLost    = "engine_lost"
	CodeEngineFailed  = "engine_failed"
	CodeBoxEnded      = "box_ended"
	CodeImageUnusable = "image_unusable"

	CodePolicyNotApplied = "policy_not_applied"
	CodeObjectsMissing   = "objects_missing"
	CodeRunnerError      = "runner_error"
	CodeRunnerLost       = "runner_lost"
	CodeJournalLost      = "journal_lost"
	CodeCleanupFailed    = "cleanup_failed"
	CodeIssuesOmitted    = "issues_omitted"

	CodeSetupFailed         = "setup_failed"
	CodeSetupInput          = "setup_input_changed"
	CodeEgressDenied        = "egress_denied"
	CodeModelRequestRefused = "model_request_refused"
	CodeDirtyTree           = "dirty_tree"
	CodeDirtyIncluded       = "dirty_included"
	CodeSessionLost         = "session_lost"
	CodeApprovalDenied      = "approval_denied"
	CodeApprovalTimeout     = "approval_timeout"
	CodeProviderUnreachable = "provider_unreachable"
	CodeAgentAuth           = "agent_auth"
	CodeAgentQuota          = "agent_quota"
	CodeAgentCrashed        = "agent_crashed"
	CodeAgentNoResult       = "agent_no_result"
	CodeAgentFailed         = "agent_failed"
	CodeAgentVersion        = "agent_version_unknown"
	CodeCommandFailed       = "command_failed"
	CodeAcceptanceFailed    = "acceptance_failed"
	CodeNoTestsRan          = "no_tests_ran"
	CodeNoChanges           = "no_changes"
	CodeCriterionText       = "criterion_is_text"
	CodeHarness             = "test_harness_changed"
	CodeTestsIncomplete     = "tests_incomplete"

	CodeConstraintViolated     = "constraint_violated"
	CodeConstraintUnverifiable = "constraint_unverifiable"
	CodeCriterionUnverifiable  = "criterion_unverifiable"
	CodeContradiction          = "contradictory_requirements"
	CodeProtectedPath          = "protected_path_modified"

	CodeSecretInDiff   = "secret_in_diff"
	CodeScanIncomplete = "secret_scan_incomplete"
	CodeLandRefused    = "land_refused"
	CodeLandFailed     = "land_failed"
	CodeRepoLocked     = "repo_locked"
	CodeRepoReadOnly   = "repo_not_writable"
	CodeRefExists      = "ref_exists"
	CodeRefConflict    = "ref_conflict"
	CodeBranchTaken    = "branch_taken"

	CodeLitter           = "litter_in_change"
	CodeTreeTooLarge     = "tree_too_large"
	CodeTreeUnstable     = "tree_unstable"
	CodeHiddenByIgnore   = "hidden_by_ignore"
	CodeNestedRepository = "nested_repository"
	CodeSpecialFile      = "special_file"
	CodeSymlinkEscapes   = "symlink_escapes"
	CodeDangerousPath    = "dangerous_path"
	CodeCaseCollision    = "case_collision"
	CodeSubmoduleTouched = "submodule_touched"
	CodeFileTooLarge     = "file_too_large"
	CodeTooManyFiles     = "too_many_files"
	CodeTotalTooLarge    = "total_too_large"
	CodePathTooDeep      = "path_too_deep"
	CodeUnreadable       = "unreadable"
	CodeModeDropped      = "mode_dropped"
	CodeOversizeFile     = "oversize_file"
	CodeBidiText         = "bidi_text"
	CodeInvisibleText    = "invisible_text"
)

// IssueKind is what is known of an issue by its code alone.
type IssueKind struct {
	Code string
	Type IssueType
	// Severities are those the issue can have, the usual one first. Where there
	// are several, the place where the issue is found decides.
	Severities []Severity
	Meaning    string // one sentence for documents
	Action     string // what a person can do; the place may know a better one
}

// sev shortens the table below.
func sev(list ...Severity) []Severity { return list }

const inspectPath = "inspect this path before merging"

// issueKinds has every issue a result can hold: what ended a run early, then
// what concerns the work, the change, the landing, and single paths.
var issueKinds = []IssueKind{
	{CodeInterrupted, IssueEnv, sev(SeverityFlaw), "a signal stopped the run",
		"run the task again; what was done so far is in the patch"},
	{CodeCancelled, IssueEnv, sev(SeverityFlaw, SeverityFatal), "a person cancelled the run; nothing landed",
		"what was done so far is in the patch; \"sandboxrun apply\" brings it into the working tree"},
	{CodeRuntimeLimit, IssueEnv, sev(SeverityFruitless), "the run took longer than max_runtime_seconds, or a command was silent longer than limits.idle_seconds",
		"raise the limit or make the task smaller"},
	{CodeMemoryLimit, IssueEnv, sev(SeverityFruitless), "a box used more memory than its limit",
		"raise the limit or make the task smaller"},
	{CodePIDsLimit, IssueEnv, sev(SeverityFruitless), "a box had more processes and threads than its limit",
		"raise the limit or make the task smaller"},
	{CodeDiskLimit, IssueEnv, sev(SeverityFruitless, SeverityFlaw, SeverityFatal), "the tree grew beyond its limit, or a disk of the host is full",
		"raise the limit or make the task smaller"},
	{CodeOutputLimit, IssueEnv, sev(SeverityFruitless), "the commands of the run printed more than their limit",
		"raise the limit or make the task smaller"},
	{CodeTokenLimit, IssueEnv, sev(SeverityFruitless), "the model requests of the run, or of all runs of the day, used as many tokens as they may",
		"raise max_tokens of the task, or limits.tokens or limits.tokens_per_day of the configuration, or make the task smaller"},
	{CodeRequestLimit, IssueEnv, sev(SeverityFruitless), "the run, or all runs of the day, made as many model requests as they may",
		"raise max_requests of the task, or limits.requests or limits.requests_per_day of the configuration, or make the task smaller"},
	{CodeEngineLost, IssueEnv, sev(SeverityFatal), "the connection to the container engine was lost, or the engine does not answer",
		"run \"sandboxrun doctor\", then run the task again"},
	{CodeEngineFailed, IssueEnv, sev(SeverityFatal), "the container engine returned an error, or an answer that cannot be read",
		"read the engine's log and run \"sandboxrun doctor\", then run the task again"},
	{CodeBoxEnded, IssueEnv, sev(SeverityFatal), "the main process of a box ended unexpectedly",
		"check whether somebody removed the box, and whether the image can run on this machine"},
	{CodeImageUnusable, IssueEnv, sev(SeverityFatal), "the image no longer exists, or no box can run from it",
		"build the image with \"sandboxrun image build\", or name another in box.image"},
	{CodePolicyNotApplied, IssueEnv, sev(SeverityFatal), "the engine did not apply every restriction that was requested of a box",
		"run \"sandboxrun doctor\", and use an engine that applies them"},
	{CodeObjectsMissing, IssueEnv, sev(SeverityFatal), "objects of the base commit are missing from the user's repository",
		"check that the repository still exists and is complete (git fsck), then run the task again"},
	{CodeRunnerError, IssueEnv, sev(SeverityFatal), "sandboxrun itself failed",
		"read the run's events; the fault is in sandboxrun or in its host"},
	{CodeRunnerLost, IssueEnv, sev(SeverityFatal, SeverityNote), "the runner died; a later runner removed its boxes and wrote this result",
		"run the task again; the events show how far the run came"},
	{CodeJournalLost, IssueEnv, sev(SeverityFlaw), "events or the result could not be stored",
		"free space in the state directory"},
	{CodeCleanupFailed, IssueEnv, sev(SeverityFatal, SeverityFlaw, SeverityNote), "the removal of a box, a tree or the remains of a landing could not be confirmed",
		"run \"sandboxrun reap\" when the engine answers again"},
	{CodeIssuesOmitted, IssueConflict, sev(SeverityNote), "there are more issues than a result lists",
		"inspect the change itself"},

	{CodeSetupFailed, IssueEnv, sev(SeverityFatal), "a setup command failed",
		"read the command's log; add the hosts it needs to box.network.allow"},
	{CodeSetupInput, IssueEnv, sev(SeverityFlaw, SeverityNote), "the change touches a file that setup commands read; without box.network.verify_allow no green command of the verification counts",
		"set box.network.verify_allow in the task, to an empty list where set-up needs no network, so that set-up runs on the change"},
	{CodeEgressDenied, IssueEnv, sev(SeverityNote), "a process in a box requested a host or a model call that is not allowed",
		"add hosts that setup commands need to box.network.allow"},
	{CodeModelRequestRefused, IssueEnv, sev(SeverityNote), "a process in a box requested more of the model provider than the run may have: another model, or what the provider fetches, runs or stores",
		"if the task needs it, name the grant in agent.grants and permit it with providers.NAME.allow in the configuration"},
	{CodeDirtyTree, IssueConflict, sev(SeverityNote), "the user has uncommitted changes that the run did not include",
		"commit them, or set context.include_dirty"},
	{CodeDirtyIncluded, IssueConflict, sev(SeverityNote), "the run started from uncommitted changes, as the task asks, so the landed branch holds them as well",
		"merge the branch only where these changes are wanted, too; \"sandboxrun apply\" brings what the run changed alone"},
	{CodeSessionLost, IssueEnv, sev(SeverityFlaw, SeverityFatal), "a conversation or the files of a session could not be kept or restored",
		"repeat what the agent needs to know, or start another session"},
	{CodeApprovalDenied, IssueConflict, sev(SeverityFlaw), "tool calls of the agent were denied",
		"allow them with approvals.allow or --approve=auto if the agent may act freely inside its box"},
	{CodeApprovalTimeout, IssueConflict, sev(SeverityFlaw), "nobody answered a request of the agent in time",
		"answer sooner, raise approvals.timeout_seconds, or allow them with approvals.allow"},
	{CodeProviderUnreachable, IssueEnv, sev(SeverityFruitless), "the model provider gave no answer to the agent's last request",
		"check the provider's base_url in the configuration, and that this machine reaches it"},
	{CodeAgentAuth, IssueEnv, sev(SeverityFruitless), "the provider rejected the key",
		"check the provider's key and base_url"},
	{CodeAgentQuota, IssueEnv, sev(SeverityFruitless), "the provider's limit or the account's credit is used up",
		"wait for the provider's limit to pass, or use another key"},
	{CodeAgentCrashed, IssueEnv, sev(SeverityFruitless), "the agent's program ended with an error and without a result",
		"read the run's events; run the task again"},
	{CodeAgentNoResult, IssueEnv, sev(SeverityFruitless), "the agent's program ended without a result, stopped responding or was stopped",
		"read the run's events; run the task again"},
	{CodeAgentFailed, IssueEnv, sev(SeverityFruitless), "the agent's program reports that the turn failed",
		"read the description, which has the agent's own message"},
	{CodeAgentVersion, IssueEnv, sev(SeverityNote), "the image holds a version of the agent's program that was not tested with this one",
		"run \"sandboxrun image build\""},
	{CodeCommandFailed, IssueTestFailure, sev(SeverityFlaw, SeverityFruitless), "a suggested command exited with a code other than 0; an env_issue where its program, a host, memory or space was missing",
		"read the command's output in commands_run and its log"},
	{CodeAcceptanceFailed, IssueTestFailure, sev(SeverityFlaw), "an acceptance command exited with an unexpected code, or did not run to its end; an env_issue where its program, a host, memory or space was missing",
		"read the command's output in commands_run and its log"},
	{CodeNoTestsRan, IssueUnclearRequirement, sev(SeverityNote, SeverityFlaw), "no command was run in a fresh box; a flaw if the agent changed nothing either",
		"name commands in acceptance_criteria or suggested_commands"},
	{CodeHarness, IssueConflict, sev(SeverityFlaw), "the change touches tests, scripts or configuration that decide how a command ends, and with those of the base the command is red or cannot be compared",
		"read what the change does to these files; have it leave them alone, or judge it with tests of your own"},
	{CodeTestsIncomplete, IssueTestFailure, sev(SeverityFlaw), "a command ended as expected although its test runner did not report its end, or left out tests that pass on the base",
		"read the command's output in commands_run and its log; find out what ends the tests early"},
	{CodeCriterionText, IssueUnclearRequirement, sev(SeverityFlaw), "an acceptance criterion is a command written as a sentence, so nothing ran it",
		"write it as {\"command\": …}"},
	{CodeCriterionUnverifiable, IssueUnclearRequirement, sev(SeverityFlaw), "an acceptance criterion in words, or some of its words, was not measured",
		"put a command in its place that shows it"},
	{CodeContradiction, IssueUnclearRequirement, sev(SeverityFlaw), "two demands of the task rule one another out, so the sentences among them were not measured",
		"decide which of the two holds, and remove the other"},
	{CodeNoChanges, IssueUnclearRequirement, sev(SeverityNote), "no tracked or new file differs from the base commit",
		"nothing to land; check the objective if a change was expected"},

	{CodeConstraintViolated, IssueConflict, sev(SeverityFlaw, SeverityFatal), "the change violates a constraint, or a read-only run changed files",
		"reject the change or relax the constraint"},
	{CodeConstraintUnverifiable, IssueUnclearRequirement, sev(SeverityNote), "no check could measure a constraint",
		"check it by hand, or name a check with {\"kind\": …}"},
	{CodeProtectedPath, IssueConflict, sev(SeverityFlaw), "the change modifies paths listed in protected_paths",
		"do not merge these paths, or remove them from protected_paths"},

	{CodeSecretInDiff, IssueConflict, sev(SeverityFlaw), "the change contains a known secret, or text that looks like one; it did not land",
		"do not use the change before every secret has been removed"},
	{CodeScanIncomplete, IssueConflict, sev(SeverityFlaw), "the search for secrets did not cover the whole change, which did not land",
		"read through the patch yourself, or make the change smaller"},
	{CodeLandRefused, IssueConflict, sev(SeverityFlaw), "the change would attack people who check it out, or git rejects its objects",
		"have the change corrected"},
	{CodeLandFailed, IssueEnv, sev(SeverityFlaw), "the change could not be written to the user's repository",
		"check that the repository and the base commit still exist; the change is kept in the patch"},
	{CodeRepoLocked, IssueEnv, sev(SeverityFlaw), "another git process holds the lock of the branch, or left it behind",
		"if no git process is running there, remove the lock file"},
	{CodeRepoReadOnly, IssueEnv, sev(SeverityFlaw), "this user cannot write to the repository",
		"let this user write to the repository, or set land to none"},
	{CodeRefExists, IssueConflict, sev(SeverityFlaw), "branches with the names of the task and of the run exist already",
		"choose another task_id"},
	{CodeBranchTaken, IssueConflict, sev(SeverityNote), "the branch of the task existed already, so the change is on a branch with another name",
		"merge the branch that git.branch names"},
	{CodeRefConflict, IssueConflict, sev(SeverityFlaw), "the name of another branch rules out a branch of this name",
		"rename the other branch"},

	{CodeLitter, IssueConflict, sev(SeverityNote), "new files of the change have names of what tools leave behind, such as __pycache__ or node_modules",
		"ignore them in .gitignore and run the task again, or leave them out when you merge"},
	{CodeTreeTooLarge, IssueEnv, sev(SeverityFatal), "the tree that a box left is too large to be captured",
		"have the commands write temporary files to /tmp, or have the repository ignore them"},
	{CodeTreeUnstable, IssueEnv, sev(SeverityFatal, SeverityFlaw), "something changed the tree while it was being read",
		"find what writes to the state directory from outside the box"},
	{CodeHiddenByIgnore, IssueConflict, sev(SeverityNote), "the repository's ignore rules exclude a new file from the result",
		"change the ignore rules if the file belongs to the result"},
	{CodeNestedRepository, IssueConflict, sev(SeverityNote), "a directory contains a git repository of its own; its files were captured as ordinary files", inspectPath},
	{CodeSpecialFile, IssueConflict, sev(SeverityFlaw), "a FIFO, socket or device was not captured", inspectPath},
	{CodeSymlinkEscapes, IssueConflict, sev(SeverityFlaw), "a symbolic link points out of the tree or into .git; such a change does not land", inspectPath},
	{CodeDangerousPath, IssueConflict, sev(SeverityNote, SeverityFlaw), "programs obey a file at this path, or some system treats the path as another one", inspectPath},
	{CodeCaseCollision, IssueConflict, sev(SeverityFlaw), "some file systems treat a new name as an existing one; such a change does not land", inspectPath},
	{CodeSubmoduleTouched, IssueConflict, sev(SeverityFlaw), "files in a submodule's directory changed; the recorded commit was kept", inspectPath},
	{CodeFileTooLarge, IssueConflict, sev(SeverityFlaw), "a file above the limit on bytes was left out, or left as it was", inspectPath},
	{CodeTooManyFiles, IssueConflict, sev(SeverityFlaw), "the capture stopped at its limit on the number of files", inspectPath},
	{CodeTotalTooLarge, IssueConflict, sev(SeverityFlaw), "the capture stopped at its limit on the total size", inspectPath},
	{CodePathTooDeep, IssueConflict, sev(SeverityFlaw), "a path above the limit on depth or length was left out, or left as it was", inspectPath},
	{CodeUnreadable, IssueConflict, sev(SeverityFlaw), "a file or directory could not be read", inspectPath},
	{CodeModeDropped, IssueConflict, sev(SeverityNote), "permission bits that git cannot store, such as setuid, were dropped", inspectPath},
	{CodeOversizeFile, IssueConflict, sev(SeverityNote), "a new file is larger than land.max_file; it is part of the change", inspectPath},
	{CodeBidiText, IssueConflict, sev(SeverityFlaw), "an added line changes the direction of text, so people read it differently from how it runs",
		"inspect these lines with an editor that shows such characters"},
	{CodeInvisibleText, IssueConflict, sev(SeverityNote), "an added line has characters that are invisible or control a terminal",
		"inspect these lines with an editor that shows such characters"},
}

// KindOfIssue returns what is known of a code. A code that is not in the table is
// worth reporting all the same: an agent's adapter or the capture named it.
func KindOfIssue(code string) IssueKind {
	for _, k := range issueKinds {
		if k.Code == code {
			return k
		}
	}
	return IssueKind{Code: code, Type: IssueEnv, Severities: sev(SeverityFlaw), Meaning: code, Action: "read the run's events"}
}
