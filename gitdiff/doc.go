// Package gitdiff opens a user's git repository for reading, resolves revisions, and keeps new objects in a store apart from
// it. The rooms below build on it: workspace, capture, change, land, apply and dirty.
//
// The configuration of a repository is not obeyed and its hooks are not run. One program of the host is: git, where there is
// one, checks the pack of a landing (package land), and it is given that pack alone.
package gitdiff
