package capture

import (
	"errors"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/gitdiff/gitdifftest/workbench"
	"sandboxrun/gitdiff/gitname"
	"sandboxrun/gitdiff/gitobj"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"golang.org/x/sys/unix"
)

// fuzzBase is what every generated directory begins with. A build directory is
// ignored by it.
var fuzzBase = map[string]string{
	"a": "base\n", "sub/b": "x\n", "sub/deep/c": "y\n", "link": "-> a", ".gitignore": "build/\n*.log\n", "kept.log": "tracked\n",
}

// fuzzNames are components a box may use; a generated path takes from them.
var fuzzNames = []string{
	"a", "b", "sub", "deep", "c", "link", "A", "build", "x.log", "kept.log", ".gitignore", ".gitattributes", ".gitmodules",
	"é", "e\u0301", "a\nb", "\xff\xfe", " ", "-rf", "nul", "x:y", `back\slash`, strings.Repeat("n", 255), "..x", "a\u202eb", "@{u}",
	".git", ".GIT", "git~1", ".git\u200c", ".git ", ".git.", ".gitmodules\u200d", "gitmod~1",
}

// fuzzTargets are texts of generated links.
var fuzzTargets = []string{"a", "..", "../../../../etc/passwd", "/etc/passwd", "/proc/self/mem", ".", "sub/b", "\xff", "nowhere", ".git/config", strings.Repeat("l", 4000)}

// build makes what the bytes say below dir: two bytes choose what and with which
// text, one to three more the path. What the file system refuses is left out.
// plain says that git itself would take all of it.
func build(t *testing.T, dir string, script []byte) (plain bool) {
	t.Helper()
	plain = true
	next := func() int {
		if len(script) == 0 {
			return 0
		}
		c := script[0]
		script = script[1:]
		return int(c)
	}
	for steps := 0; len(script) > 0 && steps < 60; steps++ {
		what, arg := next(), next()
		var parts []string
		for range 1 + what>>5 {
			parts = append(parts, fuzzNames[next()%len(fuzzNames)])
		}
		path := filepath.Join(dir, filepath.Join(parts...))
		if path == dir || !strings.HasPrefix(path, dir+"/") {
			continue
		}
		switch what % 16 {
		case 0, 1:
			_ = os.MkdirAll(filepath.Dir(path), 0o755)
			_ = unixWrite(path, strings.Repeat(string(rune(arg)), arg), 0o644)
		case 2:
			_ = unixWrite(path, "#!/bin/sh\n", 0o755)
		case 3:
			_ = os.Symlink(fuzzTargets[arg%len(fuzzTargets)], path)
		case 4:
			_ = os.MkdirAll(path, 0o755)
		case 5:
			// It opens the directory above, and waits there for a writer where that is a FIFO.
			if up, err := os.Stat(filepath.Dir(path)); err == nil && up.IsDir() {
				_ = os.RemoveAll(path)
			}
		case 6:
			_ = os.Rename(path, filepath.Join(dir, fuzzNames[arg%len(fuzzNames)]))
		case 7:
			_ = os.Link(path, filepath.Join(dir, fuzzNames[arg%len(fuzzNames)]))
		case 8:
			_ = os.Chmod(path, fs.FileMode(arg)&0o777|0o400)
		case 9:
			plain = unix.Mkfifo(path, 0o666) != nil && plain
		case 10:
			if l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path}); err == nil {
				l.SetUnlinkOnClose(false)
				_ = l.Close()
				plain = false
			}
		case 11: // a repository of its own, with what would run if it were asked
			for name, text := range map[string]string{
				"HEAD": "ref: refs/heads/main\n", "config": "[core]\n\tfsmonitor = touch /tmp/pwned\n\tworktree = /\n", "objects/x": "", "refs/x": "",
			} {
				file := filepath.Join(path, ".git", name)
				_ = os.MkdirAll(filepath.Dir(file), 0o755)
				_ = unixWrite(file, text, 0o644)
			}
			plain = false
		case 12:
			_ = os.MkdirAll(filepath.Dir(path), 0o755)
			_ = unixWrite(path, "gitdir: /etc\n", 0o644)
		case 13: // far more than a file may have, in no space at all
			_ = unixWrite(path, "", 0o644)
			_ = os.Truncate(path, int64(arg)<<16)
		case 14:
			deep := path
			for range arg {
				deep = filepath.Join(deep, "d")
			}
			_ = os.MkdirAll(deep, 0o755)
			_ = unixWrite(filepath.Join(deep, "f"), "deep", 0o644)
		case 15:
			plain = unix.Mknod(path, unix.S_IFCHR|0o666, arg) != nil && plain // needs root
		}
	}
	return plain
}

// unixWrite writes a file without following a link that is there and without
// waiting for a reader of a FIFO.
func unixWrite(path, text string, mode uint32) error {
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_CREAT|unix.O_TRUNC|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, mode)
	if err != nil {
		return err
	}
	_, err = unix.Write(fd, []byte(text))
	return errors.Join(err, unix.Close(fd))
}

// listedFiles lists a tree: raw path to mode and blob id. Every entry of it is one
// that git's own check takes.
func listedFiles(t *testing.T, b *workbench.Bench, id plumbing.Hash, prefix string, files map[string]string) {
	t.Helper()
	tree, err := object.GetTree(b.Objects.Storer(), id)
	gitdifftest.Must(t, err)
	if prefix != "" && len(tree.Entries) == 0 {
		t.Errorf("an empty tree %q", prefix)
	}
	for _, e := range tree.Entries {
		if err := gitobj.CheckEntry(e); err != nil {
			t.Errorf("%q: %v", prefix+e.Name, err)
		}
		if e.Mode.IsFile() {
			files[prefix+e.Name] = e.Mode.String()[1:] + " " + e.Hash.String()
			continue
		}
		listedFiles(t, b, e.Hash, prefix+e.Name+"/", files)
	}
}

// present lists the files and links below dir in the same form, whatever their
// names; it opens nothing else. Big files are named with their size alone.
func present(t *testing.T, dir string, limit int64) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		switch {
		case err != nil:
			return err
		case info.Mode()&fs.ModeSymlink != 0:
			text, err := os.Readlink(path)
			files[rel] = "120000 " + gitdifftest.BlobID([]byte(text))
			return err
		case !info.Mode().IsRegular():
			return nil
		case info.Size() > limit:
			files[rel] = "too large"
			return nil
		}
		text, err := os.ReadFile(path)
		files[rel] = "100644 " + gitdifftest.BlobID(text)
		if info.Mode()&0o100 != 0 {
			files[rel] = "100755 " + gitdifftest.BlobID(text)
		}
		return err
	})
	gitdifftest.Must(t, err)
	return files
}

// FuzzCapture captures a directory that the bytes describe. What is in the tree
// is what the files hold, byte for byte; what is not in it is named in a finding
// or ignored by the base; it comes out the same twice; git's own checks take it;
// and where git itself takes the directory, it makes the same tree of it.
func FuzzCapture(f *testing.F) {
	b := workbench.New(f, fuzzBase)
	gitdifftest.WriteFiles(f, b.Dir, map[string]string{".git/info/attributes": "* -text -filter -ident -working-tree-encoding\n"})
	for _, s := range []string{
		"", "\x00\x05\x01", "\x03\x02\x00\x03\x03\x05", "\x09\x00\x06\x0a\x00\x07", "\x0b\x00\x02", "\x20\x09\x1a\x01", "\x0d\xff\x01\x0d\x00\x00",
		"\x0e\xfa\x02", "\x05\x00\x0a\x00\x41\x08", "\x07\x11\x00\x08\x09\x00", "\x06\x05\x00", "\x0c\x00\x1a\x0c\x01\x1b\x0c\x01\x1d", "\x04\x00\x00\x22\x07\x00\x01",
		"\x05\x00\x02\x03\x03\x02", "\x03\x00\x0c\x03\x01\x20", "\x0f\x00\x01\x05\x00\x00\x0f\x00\x00",
	} {
		f.Add([]byte(s))
	}
	budget := Budget{Files: 400, Dirs: 200, Depth: 100, FileBytes: 1 << 20, TotalBytes: 4 << 20, Findings: 1000}
	f.Fuzz(func(t *testing.T, script []byte) {
		dir := t.TempDir()
		gitdifftest.WriteFiles(t, dir, fuzzBase)
		plain := build(t, dir, script)
		src := sourceOf(t, b, dir)
		src.Budget = budget
		s, err := Capture(t.Context(), src)
		if over := (*gitdiff.BudgetError)(nil); errors.As(err, &over) {
			return
		}
		gitdifftest.Must(t, err)
		again, err := Capture(t.Context(), src)
		gitdifftest.Must(t, err)
		gitdifftest.Equal(t, "the second capture", again, s)

		got := map[string]string{}
		listedFiles(t, b, plumbing.NewHash(s.Tree), "", got)
		have := present(t, dir, budget.FileBytes)
		why := map[string]gitdiff.Code{}
		for _, finding := range s.Findings {
			why[finding.Path] = finding.Code
		}
		for path, is := range got {
			if have[path] != is && !stays(fuzzBase[path], is) {
				t.Errorf("%q is captured as %s and holds %s (%s)", path, is, have[path], why[path])
			}
		}
		for path := range have {
			if got[path] == "" && !explained(path, why, s.Ignored > 0) {
				t.Errorf("%q is neither captured nor explained: %v", path, s.Findings)
			}
		}
		env := []string{"GIT_DIR=" + filepath.Join(b.Dir, ".git"), "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + b.StoreObjects()}
		if !plain || s.Ignored > 0 || slices.ContainsFunc(s.Findings, leavesOut) || refusedByGit(have) {
			if listed := gitdifftest.Git(t, b.Dir, env, "ls-tree", "-r", "-z", "--name-only", s.Tree); strings.Count(listed, "\x00") != len(got) {
				t.Errorf("git lists %q, we %q", listed, slices.Sorted(maps.Keys(got)))
			}
			return
		}
		env = append(env, "GIT_WORK_TREE="+dir, "GIT_INDEX_FILE="+filepath.Join(t.TempDir(), "index"))
		loose := []string{"-c", "core.protectHFS=false", "-c", "core.protectNTFS=false", "-c", "core.fsmonitor=false"}
		gitdifftest.Git(t, dir, env, append(loose, "add", "-A", "-f", ".")...)
		gitdifftest.Equal(t, "git's own tree", s.Tree, gitdifftest.Git(t, dir, env, append(loose, "write-tree")...))
	})
}

// stays says that a captured file is the base's own, which an unreadable or
// oversized one is kept as.
func stays(base, is string) bool {
	return base != "" && is == "100644 "+gitdifftest.BlobID([]byte(base))
}

// leavesOut says that a finding is about something that is not captured as it is.
func leavesOut(f gitdiff.Finding) bool {
	return f.Code != gitdiff.SymlinkEscapes && f.Code != gitdiff.CaseCollision && f.Code != gitdiff.DangerousPath
}

// refusedByGit says that git would not add some file because of its name.
func refusedByGit(files map[string]string) bool {
	for path, is := range files {
		if slices.ContainsFunc(strings.Split(path, "/"), gitname.IsDotGit) || strings.HasPrefix(is, "120000") && gitname.IsDotGitmodules(filepath.Base(path)) {
			return true
		}
	}
	return false
}

// explained says whether a finding, the base's ignore rules or its own name tells
// why a path is not in a tree.
func explained(path string, why map[string]gitdiff.Code, ignored bool) bool {
	for p := path; p != "."; p = filepath.Dir(p) {
		if why[p] != "" && why[p] != gitdiff.CaseCollision && why[p] != gitdiff.SymlinkEscapes || gitname.IsDotGit(filepath.Base(p)) {
			return true
		}
		if ignored && (strings.HasSuffix(p, ".log") || filepath.Base(p) == "build") {
			return true
		}
	}
	return false
}
