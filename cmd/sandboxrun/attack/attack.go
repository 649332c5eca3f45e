// Package attack defines what an attack is, and contains the lab that makes attacks through the real program and
// judges their outcomes. Package table lists all of them, selftest those of "doctor --self-test", and naive makes them
// against a naive counterpart, where each must succeed.
package attack

import "context"

// Group is the target of an attack.
type Group string

// The groups, in the order of reports.
const (
	GitExec   Group = "git: code on the host"
	GitTruth  Group = "git: a false diff"
	GitDoS    Group = "git: hostile files"
	Landing   Group = "landing"
	Forgery   Group = "forged results"
	Container Group = "container"
	Resources Group = "resources"
	Content   Group = "logs and streams"
	Network   Group = "network"
	Secrets   Group = "secrets"
	Supply    Group = "supply"
)

// Attack is one entry of the table. Script runs in the box like an agent's command, with sh, in a directory of its own
// (the attack's ID in lower case, below the root of the tree), and finds in its environment:
//
//	ROOT    the root of the tree, /workspace
//	PWN     a file of the host below a directory that does not exist in the box: if it exists, a program of the box ran outside
//	OUT     a directory of the host, not mounted in any box, with a file "secret"; it does not exist in the box
//	ID      the attack's ID
//	ADDRS   addresses of the host, separated by spaces
//	PORT    a port of the host with a listener on all of them; it answers "reached" and records the request
//	KEY     name of the environment variable that holds the provider's key on the host
//
// The exit code of the script has no effect.
type Attack struct {
	ID    string // short, unique, letters and digits
	Group Group
	Title string // what the attacker wants, a few words

	// Repo adds to the base before it is committed: root is a repository with the sample project, own the attack's directory
	// in it, which exists.
	Repo func(root, own string) error
	// Submodule is a directory below own that the base records as a submodule, "" for none.
	Submodule string
	// Script is the attack. A nil Breached with a Script is a mistake the table's test finds.
	Script string
	// Task changes the task; an attack with one has a box of its own.
	Task func(task map[string]any)
	// Host prepares the host: its home, its repository, its listeners. An attack with one has a box of its own.
	Host func(ctx context.Context, h *Host) error
	// After are further invocations of the program once the run has ended; the word RUN stands for the run's id.
	After [][]string
	// Breached returns what succeeded, "" when nothing did. It judges the program and the naive counterpart alike.
	Breached func(s Scene) string

	Naive Naive
	// Shares: the attack does not disturb others and may share a box with them.
	Shares bool
	// Alters: its Host, Meanwhile or After change the user's repository, which alone is no breach then.
	Alters bool
	// Skip returns why the attack cannot be made in a place; "" when it can.
	Skip func(w Where) string
}

// Naive is how the counterpart differs from a plain "docker run -v repo:/workspace" as root with a network, the key in its
// environment, and git on the host afterwards.
type Naive struct {
	Flags []string // more flags of docker run
	Host  string   // sh script of the host after the box, in the repository, instead of status, add, commit and diff
	Skip  string   // why the counterpart cannot be run safely
}

// Alone reports whether the attack needs a box of its own.
func (a Attack) Alone() bool { return !a.Shares || a.Task != nil || a.Host != nil || len(a.After) > 0 }

// skip returns why the attack is not made at w.
func (a Attack) skip(w Where) string {
	if w.Naive && a.Naive.Skip != "" {
		return a.Naive.Skip
	}
	if a.Skip != nil {
		return a.Skip(w)
	}
	return ""
}

// Batches groups attacks by the box they run in: per group those that share one, and each other attack alone.
func Batches(attacks []Attack) [][]Attack {
	var batches [][]Attack
	shared := map[Group]int{}
	for _, a := range attacks {
		if a.Alone() {
			batches = append(batches, []Attack{a})
			continue
		}
		at, ok := shared[a.Group]
		if !ok {
			at = len(batches)
			shared[a.Group] = at
			batches = append(batches, nil)
		}
		batches[at] = append(batches[at], a)
	}
	return batches
}
