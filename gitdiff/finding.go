package gitdiff

// Code names one kind of [Finding]; codes are stable, results and journals carry them.
type Code string

// What reading or writing a tree can find. None of them is an error of the reader: the rest of the tree stays right.
const (
	NestedRepository Code = "nested_repository" // a directory holds a repository of its own; its files were taken as files
	SpecialFile      Code = "special_file"      // a FIFO, socket or device; not part of a git tree, left out
	HiddenByIgnore   Code = "hidden_by_ignore"  // a new file that the base's ignore rules keep out of a commit
	SymlinkEscapes   Code = "symlink_escapes"   // a link that leads out of the tree or into its .git, also by way of others
	FileTooLarge     Code = "file_too_large"    // a file above the byte budget; one of the base stays as it was, a new one is left out
	TooManyFiles     Code = "too_many_files"    // the entry budget ended the walk
	PathTooDeep      Code = "path_too_deep"     // a path above the depth or length budget; likewise
	TreeUnstable     Code = "tree_unstable"     // something changed while it was being read
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

// Grade says what a finding means for the change it was found in.
type Grade int

// Grades, the gravest last.
const (
	Note   Grade = iota // worth saying; everything is in the tree
	Flaw                // something is missing from the tree, or people are misled by it
	Refuse              // whoever checks the tree out is attacked: not to be landed
)

// grade is what a code means where nothing more is known.
func (c Code) grade() Grade {
	switch c {
	case NestedRepository, HiddenByIgnore, DangerousPath, ModeDropped, OversizeFile, InvisibleText:
		return Note
	case SymlinkEscapes, CaseCollision:
		return Refuse
	default:
		return Flaw
	}
}

// Finding is something worth telling a person about one path of a tree.
type Finding struct {
	Code   Code   // what it is
	Path   string // where, slash-separated and relative to the tree; raw bytes, not necessarily valid UTF-8
	Detail string // a few words more, such as a link's text or a size; may be empty
	Grade  Grade  // what it means for the change
	Class  string // of a [DangerousPath], the class of [Hazards] it belongs to; otherwise empty
}
