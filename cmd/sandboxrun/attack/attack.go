// Package attack says what an attack is, and is the lab that makes attacks through the real program and judges how they ended.
// Package table lists all of them, selftest those of "doctor --self-test", and naive makes them against a naive counterpart, where
// each must be seen to succeed.
package attack

import "context"

// Group is what an attack is aimed at.
type Group string

// The groups, in the order reports tell of them.
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

// Attack is one entry of the table. Script runs in the box as an agent's command would, with sh, in a directory of its own
// (the attack's ID in lower case, below the root of the tree), and finds in its environment:
//
//	ROOT    the root of the tree, /workspace
//	PWN     a file of the host below a directory that does not exist in the box: if it exists, a program of the box ran outside
//	OUT     a directory of the host, outside of everything a box is given, with a file "secret"; it does not exist in the box
//	ID      the attack's ID
//	ADDRS   addresses of the host, separated by spaces
//	PORT    a port of the host where something listens on all of them; it answers "reached" and notes the request
//	KEY     name of the environment variable that holds the provider's key on the host
//
// How the script exits decides nothing.
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
	// Host prepares the host: its home, its repository, what listens. An attack with one has a box of its own.
	Host func(ctx context.Context, h *Host) error
	// After are further invocations of the program once the run has ended; the word RUN stands for the run's id.
	After [][]string
	// Breached says what got through, "" when nothing did. It is asked the same of the program and of the naive counterpart.
	Breached func(s Scene) string

	Naive Naive
	// Shares: the attack leaves others alone and may run in one box with them.
	Shares bool
	// Alters: its Host, Meanwhile or After change the user's repository, which alone is no breach then.
	Alters bool
	// Skip says why the attack cannot be made in a place; "" when it can.
	Skip func(w Where) string
}

// Naive says how the counterpart differs from a plain "docker run -v repo:/workspace" as root with a network, the key in its
// environment, and git on the host afterwards.
type Naive struct {
	Flags []string // more flags of docker run
	Host  string   // sh script of the host after the box, in the repository, instead of status, add, commit and diff
	Skip  string   // why the counterpart cannot be run safely
}

// Alone reports whether the attack needs a box of its own.
func (a Attack) Alone() bool { return !a.Shares || a.Task != nil || a.Host != nil || len(a.After) > 0 }

// skip says why the attack is not made at w.
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
