package gitdiff

// Code names one kind of [Finding]; codes are stable, results and journals carry them.
type Code string

// What reading or writing a tree can find. None of them is an error of the reader: the rest of the tree stays right.
const (
	NestedRepository Code = "nested_repository" // a directory holds a repository of its own; its files were taken as files
	SpecialFile      Code = "special_file"      // a FIFO, socket or device; not part of a git tree, left out
	HiddenByIgnore   Code = "hidden_by_ignore"  // a new file that the base's ignore rules keep out of a commit
	SymlinkEscapes   Code = "symlink_escapes"   // a link whose text leads out of the tree; the text is kept as content
	FileTooLarge     Code = "file_too_large"    // a file above the byte budget; one of the base stays as it was, a new one is left out
	TooManyFiles     Code = "too_many_files"    // the entry budget ended the walk
	PathTooDeep      Code = "path_too_deep"     // a path above the depth or length budget; likewise
	TreeUnstable     Code = "tree_unstable"     // something changed while it was being read
	SubmoduleTouched Code = "submodule_touched" // files inside a submodule's directory; the recorded link was kept
	DangerousPath    Code = "dangerous_path"    // a name some system takes for .git (left out), misleads people or cannot be held elsewhere (kept)
	CaseCollision    Code = "case_collision"    // a new name that differs from another only in case or normal form
	TotalTooLarge    Code = "total_too_large"   // the byte budget ended the walk
	Unreadable       Code = "unreadable"        // a file or directory that could not be read; likewise
)

// Finding is something worth telling a person about one path of a tree.
type Finding struct {
	Code   Code   // what it is
	Path   string // where, slash-separated and relative to the tree; raw bytes, not necessarily valid UTF-8
	Detail string // a few words more, such as a link's text or a size; may be empty
}
