package gitdiff

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Code names one kind of [Finding]; codes are stable, results and journals carry them.
type Code string

// What capturing or inspecting a tree can find. None of them is an error of the reader: the rest of the tree is right.
const (
	NestedRepository Code = "nested_repository" // a directory holds a repository of its own; its files were taken as files
	SpecialFile      Code = "special_file"      // a FIFO, socket or device; not part of a git tree, left out
	HiddenByIgnore   Code = "hidden_by_ignore"  // a new file that the base's ignore rules keep out of a commit
	SymlinkEscapes   Code = "symlink_escapes"   // a link that leads out of the tree or into its .git, also by way of others
	FileTooLarge     Code = "file_too_large"    // a file above the byte budget; one of the base stays as it was, a new one is left out
	TooManyFiles     Code = "too_many_files"    // the entry budget ended the walk
	PathTooDeep      Code = "path_too_deep"     // a path above the depth or length budget; likewise
	SubmoduleTouched Code = "submodule_touched" // files inside a submodule's directory; the recorded link was kept
	DangerousPath    Code = "dangerous_path"    // a name some system takes for .git (left out), misleads people, cannot be held elsewhere, or is obeyed by a program (kept)
	CaseCollision    Code = "case_collision"    // a new name that some file system takes for the same as another
	TotalTooLarge    Code = "total_too_large"   // the byte budget ended the walk
	Unreadable       Code = "unreadable"        // a file or directory that could not be read; likewise
	ModeDropped      Code = "mode_dropped"      // permission bits git has no place for, such as setuid; the file was taken without them
	OversizeFile     Code = "oversize_file"     // a new file above the size people want in a repository; it was taken
	BidiText         Code = "bidi_text"         // an added line turns the direction of text around: it reads other than it runs
	InvisibleText    Code = "invisible_text"    // an added line holds characters that nobody sees or that move a terminal's cursor
)

// codes lists every code.
var codes = []Code{
	NestedRepository, SpecialFile, HiddenByIgnore, SymlinkEscapes, FileTooLarge, TooManyFiles, PathTooDeep, SubmoduleTouched, DangerousPath,
	CaseCollision, TotalTooLarge, Unreadable, ModeDropped, OversizeFile, BidiText, InvisibleText,
}

// Grade is what a finding means for the change it was found in.
type Grade int

// Grades, the gravest last.
const (
	Note   Grade = iota // worth reporting; everything is in the tree
	Flaw                // something is missing from the tree, or people are misled by it
	Refuse              // the tree attacks those who check it out, and does not land
)

// Grade is what a code means where nothing more is known.
func (c Code) Grade() Grade {
	switch c {
	case NestedRepository, HiddenByIgnore, DangerousPath, ModeDropped, OversizeFile, InvisibleText:
		return Note
	case SymlinkEscapes, CaseCollision:
		return Refuse
	default:
		return Flaw
	}
}

// UnusualName is the class of a [DangerousPath] whose name misleads, or that cannot be held elsewhere.
const UnusualName = "unusual_name"

// Finding is something a person should know about one path of a tree.
type Finding struct {
	Code   Code   // what it is
	Path   string // where, slash-separated and relative to the tree; raw bytes, not necessarily valid UTF-8
	Detail string // a few words more, such as a link's text or a size; may be empty
	Grade  Grade  // what it means for the change
	Class  string // of a [DangerousPath], the class of change.Hazards it belongs to; otherwise empty
}

// Bounds of a finding that another process reports, in bytes.
const (
	maxFindingText  = 16 << 10 // of its path and of its detail
	maxFindingClass = 64
)

// errFinding says that nothing this program does finds such a thing.
var errFinding = errors.New("impossible finding")

// Check refuses a finding that no capture and no inspection makes. Another process may have reported it.
func (f *Finding) Check() error {
	switch {
	case !slices.Contains(codes, f.Code):
		return fmt.Errorf("%w: unknown code", errFinding)
	case f.Grade < Note || f.Grade > Refuse:
		return fmt.Errorf("%w: %s of grade %d", errFinding, f.Code, f.Grade)
	case len(f.Path) > maxFindingText || strings.ContainsRune(f.Path, 0):
		return fmt.Errorf("%w: path of %s", errFinding, f.Code)
	case len(f.Detail) > maxFindingText:
		return fmt.Errorf("%w: detail of %s", errFinding, f.Code)
	case len(f.Class) > maxFindingClass || strings.Trim(f.Class, "abcdefghijklmnopqrstuvwxyz_") != "":
		return fmt.Errorf("%w: class of %s", errFinding, f.Code)
	}
	return nil
}

// MaxPath bounds a path in bytes: PATH_MAX of Linux, beyond which no checkout can hold the file.
const MaxPath = 4095

// BudgetError says that a tree or a change is larger than allowed. Nothing is known beyond the point where a walk stopped,
// so there is no result: a part would read as the whole.
type BudgetError struct {
	Code  Code   // [TooManyFiles] or [TotalTooLarge]
	What  string // what there is too much of
	Limit int64
}

func (e *BudgetError) Error() string { return fmt.Sprintf("more than %d %s", e.Limit, e.What) }
