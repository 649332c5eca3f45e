// Package gitdiff opens a throwaway tree at a commit, captures it safely, says what changed, and lands it.
//
// Nothing here runs a program, obeys the configuration of a repository, or follows a link found in one: the user's
// repository is only read, the tree a box has written is only data.
package gitdiff
