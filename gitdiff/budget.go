package gitdiff

import "fmt"

// Budget bounds one capture. Every field must be positive.
type Budget struct {
	Files      int   // entries of all kinds looked at, directories included
	Dirs       int   // directories entered
	Depth      int   // directories below the root
	FileBytes  int64 // bytes of one file
	TotalBytes int64 // bytes read from all files
	Findings   int   // findings kept; further ones are only counted
}

// DefaultBudget suits repositories of some hundred thousand files and changes of a few gigabytes.
func DefaultBudget() Budget {
	return Budget{Files: 600_000, Dirs: 150_000, Depth: 200, FileBytes: 64 << 20, TotalBytes: 4 << 30, Findings: 500}
}

// maxPath bounds a path in bytes: PATH_MAX of Linux, beyond which no checkout can hold the file.
const maxPath = 4095

// BudgetError says that a tree or a change is larger than allowed. Nothing is known beyond the point where a walk stopped,
// so there is no result: a part would read as the whole.
type BudgetError struct {
	Code  Code   // [TooManyFiles] or [TotalTooLarge]
	What  string // what there is too much of
	Limit int64
}

func (e *BudgetError) Error() string { return fmt.Sprintf("more than %d %s", e.Limit, e.What) }
