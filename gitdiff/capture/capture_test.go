package capture

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/gitdiff/gitdifftest/workbench"

	"golang.org/x/sys/unix"
)

func TestCaptureOfAnUntouchedTreeIsTheBase(t *testing.T) {
	t.Parallel()
	b := workbench.New(t, map[string]string{"a.txt": "a\n", "d/b.txt": "b\n", "d/l": "-> b.txt"})
	s, changes := changed(t, b, b.Box(t))
	gitdifftest.Equal(t, "tree", s.Tree, b.Head(t).Tree)
	gitdifftest.Equal(t, "changes", changes, []string(nil))
	gitdifftest.Equal(t, "findings", found(s), []string(nil))
}

// Each case is one attack on a box with the files below; what it asks for is what is captured and reported.
func TestCapture(t *testing.T) {
	t.Parallel()
	base := map[string]string{
		"a.txt": "aaaa\n", "d/b.txt": "b\n", "run.sh": "#!/bin/sh\n", ".gitignore": "*.log\nbuild/\n", "kept.log": "tracked\n",
	}
	for name, tc := range map[string]struct {
		attack   func(t *testing.T, dir string)
		changes  []string
		findings []string
	}{
		"T01 same size, time restored": {func(t *testing.T, dir string) {
			path := filepath.Join(dir, "a.txt")
			info, err := os.Stat(path)
			gitdifftest.Must(t, err)
			gitdifftest.Must(t, os.WriteFile(path, []byte("bbbb\n"), 0o644))
			gitdifftest.Must(t, os.Chtimes(path, info.ModTime(), info.ModTime()))
		}, []string{"modified a.txt"}, nil},
		"G01 G02 a .git of the box's own": {func(t *testing.T, dir string) {
			gitdifftest.WriteFiles(t, dir, map[string]string{".git/config": "[core]\n\tfsmonitor = touch PWN\n", ".git/hooks/pre-commit": "touch PWN\n"})
		}, nil, nil},
		"G01 .git is a file pointing elsewhere": {func(t *testing.T, dir string) {
			gitdifftest.WriteFiles(t, dir, map[string]string{".git": "gitdir: .evil\n", ".evil/config": "x\n"})
		}, []string{"added .evil/config"}, nil},
		"G04 G05 attributes that name drivers": {func(t *testing.T, dir string) {
			gitdifftest.WriteFiles(t, dir, map[string]string{".gitattributes": "* filter=e diff=e merge=e text eol=crlf ident -diff\n"})
			gitdifftest.Must(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte("$Id$\r\n"), 0o644))
		}, []string{"added .gitattributes", "modified a.txt"}, nil},
		"G08 a repository inside": {func(t *testing.T, dir string) {
			gitdifftest.WriteFiles(t, dir, map[string]string{"lib/.git/config": "[core]\n\tfsmonitor = touch PWN\n", "lib/x.c": "x\n"})
		}, []string{"added lib/x.c"}, []string{"nested_repository lib"}},
		"T04 everything deleted": {func(t *testing.T, dir string) {
			for _, name := range []string{"a.txt", "d", "run.sh", ".gitignore", "kept.log"} {
				gitdifftest.Must(t, os.RemoveAll(filepath.Join(dir, name)))
			}
		}, []string{"deleted .gitignore", "deleted a.txt", "deleted d/b.txt", "deleted kept.log", "deleted run.sh"}, nil},
		"T09 odd permission bits": {func(t *testing.T, dir string) {
			gitdifftest.Must(t, os.Chmod(filepath.Join(dir, "a.txt"), 0o666|os.ModeSetuid|os.ModeSetgid|os.ModeSticky))
			gitdifftest.Must(t, os.Chmod(filepath.Join(dir, "run.sh"), 0o700|os.ModeSetuid))
		}, []string{"modified run.sh"}, []string{"mode_dropped a.txt", "mode_dropped run.sh"}},
		"T10 types change": {func(t *testing.T, dir string) {
			gitdifftest.Must(t, os.Remove(filepath.Join(dir, "a.txt")))
			gitdifftest.Must(t, os.Symlink("run.sh", filepath.Join(dir, "a.txt")))
			gitdifftest.Must(t, os.RemoveAll(filepath.Join(dir, "d")))
			gitdifftest.Must(t, os.Symlink("/etc", filepath.Join(dir, "d")))
			gitdifftest.Must(t, os.Remove(filepath.Join(dir, "run.sh")))
			gitdifftest.WriteFiles(t, dir, map[string]string{"run.sh/inside": "x\n"})
		}, []string{"modified a.txt", "added d", "deleted d/b.txt", "deleted run.sh", "added run.sh/inside"}, nil},
		"T16 names that are not utf-8": {func(t *testing.T, dir string) {
			gitdifftest.WriteFiles(t, dir, map[string]string{"bad\xff": "1\n", "bad\xfe": "2\n"})
		}, []string{"added bad\xfe", "added bad\xff"}, []string{"dangerous_path bad\xfe", "dangerous_path bad\xff"}},
		"D01 D02 specials everywhere": {func(t *testing.T, dir string) {
			for _, name := range []string{"fifo", ".gitattributes", ".gitmodules", "d/.gitignore"} {
				gitdifftest.Must(t, unix.Mkfifo(filepath.Join(dir, name), 0o644))
			}
			gitdifftest.Must(t, os.Remove(filepath.Join(dir, "a.txt")))
			gitdifftest.Must(t, unix.Mkfifo(filepath.Join(dir, "a.txt"), 0o644))
			gitdifftest.Must(t, unix.Mknod(filepath.Join(dir, "sock"), unix.S_IFSOCK|0o644, 0))
			gitdifftest.Must(t, os.Remove(filepath.Join(dir, ".gitignore")))
			gitdifftest.Must(t, unix.Mkfifo(filepath.Join(dir, ".gitignore"), 0o644))
			gitdifftest.Must(t, unix.Mkfifo(filepath.Join(dir, ".git"), 0o644))
		}, []string{"deleted .gitignore", "deleted a.txt"}, []string{
			"special_file .gitattributes", "special_file .gitignore", "special_file .gitmodules", "special_file a.txt",
			"special_file d/.gitignore", "special_file fifo", "special_file sock",
		}},
		"D03 links to anywhere": {func(t *testing.T, dir string) {
			for name, target := range map[string]string{
				"abs": "/etc/shadow", "up": "../../x", "self": "self", "gone": "nowhere", "env": "/proc/self/environ", "git": ".git/config",
			} {
				gitdifftest.Must(t, os.Symlink(target, filepath.Join(dir, name)))
			}
		}, []string{"added abs", "added env", "added git", "added gone", "added self", "added up"}, nil},
		"D04 hard links are files of their own": {func(t *testing.T, dir string) {
			gitdifftest.Must(t, os.Link(filepath.Join(dir, "a.txt"), filepath.Join(dir, "z.txt")))
		}, []string{"added z.txt"}, nil},
		"D06 sparse files": {func(t *testing.T, dir string) {
			gitdifftest.WriteFiles(t, dir, map[string]string{"huge": "", "d/.gitignore": ""})
			gitdifftest.Must(t, os.Truncate(filepath.Join(dir, "huge"), 1<<40))
			gitdifftest.Must(t, os.Truncate(filepath.Join(dir, "d/.gitignore"), 50<<30))
		}, nil, []string{"file_too_large d/.gitignore", "file_too_large huge"}},
		"D09 names like .git": {func(t *testing.T, dir string) {
			gitdifftest.WriteFiles(t, dir, map[string]string{
				".GIT/config": "x", "d/.Git./x": "x", "git~1": "x", ".g\u200cit": "x", ".git::$INDEX_ALLOCATION": "x", "..x": "x\n", "sub..": "x\n",
			})
		}, []string{"added ..x", "added sub.."}, []string{
			"dangerous_path .GIT", "dangerous_path .git::$INDEX_ALLOCATION", "dangerous_path .g\u200cit", "dangerous_path d/.Git.", "dangerous_path git~1",
			"dangerous_path sub..",
		}},
		"D10 names that fall together": {func(t *testing.T, dir string) {
			gitdifftest.WriteFiles(t, dir, map[string]string{"A.txt": "x\n", "n\u00e9": "x\n", "ne\u0301": "y\n", "z": "1\n", "z\u200d": "2\n", "y": "1\n", "y.": "2\n"})
			gitdifftest.WriteFiles(t, dir, map[string]string{"Mixed/post": "x\n", "mixed": "-> .", "longer name.text": "1\n", "LONGER~1.TEX": "2\n"})
		}, []string{
			"added A.txt", "added LONGER~1.TEX", "added Mixed/post", "added longer name.text", "added mixed", "added ne\u0301", "added n\u00e9", "added y", "added y.",
			"added z", "added z\u200d",
		}, []string{
			"dangerous_path y.", "dangerous_path z\u200d", "case_collision A.txt", "case_collision mixed", "case_collision n\u00e9", "case_collision y.",
			"case_collision z\u200d", "case_collision LONGER~1.TEX",
		}},
		"D12 closed directories and files": {func(t *testing.T, dir string) {
			gitdifftest.Must(t, os.WriteFile(filepath.Join(dir, "d/b.txt"), []byte("new\n"), 0o644))
			gitdifftest.Must(t, os.Chmod(filepath.Join(dir, "d/b.txt"), 0))
			gitdifftest.Must(t, os.Chmod(filepath.Join(dir, "d"), 0))
			t.Cleanup(func() { gitdifftest.Must(t, os.Chmod(filepath.Join(dir, "d"), 0o700)) })
		}, []string{"modified d/b.txt"}, nil},
		"ignored and tracked": {func(t *testing.T, dir string) {
			gitdifftest.WriteFiles(t, dir, map[string]string{"x.log": "x", "build/out/o": "x", "d/y.log": "x", ".gitignore": "*\n", "kept.log": "new\n", "n": "n\n"})
		}, []string{"modified .gitignore", "modified kept.log", "added n"},
			[]string{"hidden_by_ignore build", "hidden_by_ignore d/y.log", "hidden_by_ignore x.log"}},
		"a link in the place of .gitmodules": {func(t *testing.T, dir string) {
			gitdifftest.Must(t, os.Symlink("a.txt", filepath.Join(dir, ".gitmodules")))
		}, nil, []string{"dangerous_path .gitmodules"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := workbench.New(t, base)
			dir := b.Box(t)
			tc.attack(t, dir)
			start := time.Now()
			s, changes := changed(t, b, dir)
			if d := time.Since(start); d > 20*time.Second {
				t.Errorf("capture took %v", d)
			}
			gitdifftest.Equal(t, "changes", changes, tc.changes)
			gitdifftest.Equal(t, "findings", found(s), tc.findings)
		})
	}
}

func TestCaptureBudgets(t *testing.T) {
	t.Parallel()
	b := workbench.New(t, map[string]string{"a": "a\n"})
	dir := b.Box(t)
	gitdifftest.WriteFiles(t, dir, map[string]string{"d/e/f/1": "11", "d/2": "22", "3": "33", "4": "44"})
	for name, tc := range map[string]struct {
		shrink func(*Budget)
		code   gitdiff.Code
	}{
		"files":       {func(b *Budget) { b.Files = 4 }, gitdiff.TooManyFiles},
		"names":       {func(b *Budget) { b.Names = 5 }, gitdiff.TooManyFiles},
		"directories": {func(b *Budget) { b.Dirs = 2 }, gitdiff.TooManyFiles},
		"bytes":       {func(b *Budget) { b.TotalBytes = 7 }, gitdiff.TotalTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src := sourceOf(t, b, dir)
			tc.shrink(&src.Budget)
			_, err := Capture(t.Context(), src)
			var over *gitdiff.BudgetError
			if !errors.As(err, &over) || over.Code != tc.code {
				t.Errorf("error = %v, want a budget error with code %s", err, tc.code)
			}
		})
	}
	t.Run("depth leaves the rest right", func(t *testing.T) {
		t.Parallel()
		src := sourceOf(t, b, dir)
		src.Budget.Depth = 1
		s, err := Capture(t.Context(), src)
		gitdifftest.Must(t, err)
		gitdifftest.Equal(t, "findings", found(s), []string{"path_too_deep d/e"})
		gitdifftest.Equal(t, "changes", len(changes(t, b, b.Head(t).Tree, s.Tree)), 3)
	})
	t.Run("findings are counted beyond", func(t *testing.T) {
		t.Parallel()
		src := sourceOf(t, b, dir)
		src.Budget.Findings, src.Budget.FileBytes = 1, 1
		s, err := Capture(t.Context(), src)
		gitdifftest.Must(t, err)
		gitdifftest.Equal(t, "kept and dropped", []int{len(s.Findings), s.Dropped}, []int{1, 4})
	})
}
