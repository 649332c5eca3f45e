package e2e

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/internal/testenv"
	"sandboxrun/runner/document"
)

// differs lists what is not as on a disk, by the way a tree reaches the box. docs/tree.md explains each.
var differs = map[string]map[string]bool{
	"overlay": {"rename-directory-at-a-long-path": true},
	"runsc":   {"attributes": true, "nameless-file": true, "rename-noreplace": true, "sparse": true, "unlink-while-open": true},
}

// What programs do with files gives the same in a box as in a plain directory, and leaves the same, however the tree reaches the box.
func TestTheTreeInTheBoxBehavesLikeADisk(t *testing.T) { //nolint:tparallel // what the boxes left is compared
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "fileops")
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", binary, "./testdata/fileops")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	names, err := exec.Command(binary, "list").Output()
	gitdifftest.Must(t, err)
	files := map[string]string{}
	for name := range strings.FieldsSeq(string(names)) {
		for path, text := range map[string]string{"f": "f", "g": "the other", "d/x": "x", "e/y": "y", "empty/keep": "keep"} {
			files[name+"/"+path] = text + " of " + name + "\n" // no two files are taken for one another
		}
	}
	files["rename-directory-at-a-long-path/long/"+strings.Repeat("p", 200)+"/"+strings.Repeat("q", 200)+"/d/x"] = "long\n"
	repo := newRepo(t, files)
	program, err := os.ReadFile(binary)
	gitdifftest.Must(t, err)
	gitdifftest.Must(t, os.WriteFile(filepath.Join(repo.dir, "fileops"), program, 0o755))
	repo.git("add", "-A")
	repo.git("commit", "-q", "-m", "program")

	plain := filepath.Join(t.TempDir(), "plain")
	gitdifftest.WriteFiles(t, plain, files)
	direct := exec.Command(binary)
	direct.Dir = plain
	if os.Getuid() == 0 { // as in boxes, permissions count
		chown(t, plain, 10001)
		gitdifftest.Must(t, os.Chmod(filepath.Dir(filepath.Dir(plain)), 0o755))
		gitdifftest.Must(t, os.Chmod(filepath.Dir(plain), 0o755))
		gitdifftest.Must(t, os.Chmod(filepath.Dir(binary), 0o755))
		direct.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 10001, Gid: 10001}}
	}
	said, err := direct.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	want := linesOf(string(said))

	left := map[string][]string{} // what each way of working left, by operation, as the first box left it
	for _, c := range testenv.Sample(t, []struct{ layout, runtime string }{{"overlay", "runc"}, {"overlay", "runsc"}, {"copy", "runc"}, {"copy", "runsc"}}, 2) {
		t.Run(c.layout+" "+c.runtime, func(t *testing.T) {
			testenv.Runtime(t, c.runtime)
			if c.layout == "overlay" && os.Getuid() != 0 {
				t.Skip("a runner that is not root copies trees")
			}
			rig := newRig(t)
			rig.env = append(rig.env, "SANDBOXRUN_LAYOUT="+c.layout)
			res, o := rig.execute(repo.task("./fileops"), "--runtime", c.runtime)
			if len(res.Logs) == 0 || res.Box == nil || res.Box.Layout != c.layout {
				t.Fatalf("exit %d, box %+v, issues %+v", o.exit, res.Box, res.Issues)
			}
			log, err := os.ReadFile(res.Logs[0])
			gitdifftest.Must(t, err)
			got := linesOf(string(log))
			for _, name := range slices.Sorted(maps.Keys(want)) {
				if same := got[name] == want[name]; same == (differs[c.layout][name] || differs[c.runtime][name]) {
					t.Errorf("%s:\nin the box      %s\nin a directory %s", name, got[name], want[name])
				}
			}
			here := map[string][]string{}
			for _, f := range res.FilesChanged {
				name, _, _ := strings.Cut(f.Path, "/")
				here[name] = append(here[name], f.ChangeType+" "+f.Path+" < "+f.OldPath)
			}
			for name, files := range here {
				if differs[c.layout][name] || differs[c.runtime][name] {
					continue
				}
				if first, known := left[name]; known {
					gitdifftest.Equal(t, "files of "+name, files, first)
				} else {
					left[name] = files
				}
			}
		})
	}
}

func linesOf(text string) map[string]string {
	lines := map[string]string{}
	for line := range strings.Lines(text) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		lines[name] = rest
	}
	return lines
}

// Agents move directories every day. What moved is listed with the path it had, and lands.
func TestMovedDirectoriesLandAndNameTheirOldPaths(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, map[string]string{"src/a/one.go": "package a\n\nvar one = 1\n", "src/a/two.go": "package a\n\nvar two = 2\n", "src/b/three.go": "package b\n\nvar three = 3\n", "keep": "k\n"})
	task := repo.task("git mv src/a lib", "mkdir pkg && mv src pkg/src", "echo '// more' >> lib/two.go")
	task["acceptance_criteria"] = []any{map[string]any{"command": "test -f lib/one.go && test -f pkg/src/b/three.go && test ! -e src && grep -q more lib/two.go"}}
	res, o := rig.execute(task)
	if o.exit != 0 || res.Status != document.StatusSuccess {
		t.Fatalf("exit %d, %s, issues %+v", o.exit, res.Status, res.Issues)
	}
	var got []string
	for _, f := range res.FilesChanged {
		got = append(got, f.ChangeType+" "+f.Path+" < "+f.OldPath)
	}
	slices.Sort(got)
	want := []string{"added lib/one.go < src/a/one.go", "added lib/two.go < src/a/two.go", "added pkg/src/b/three.go < src/b/three.go",
		"deleted src/a/one.go < ", "deleted src/a/two.go < ", "deleted src/b/three.go < "}
	gitdifftest.Equal(t, "files", got, want)
	gitdifftest.Equal(t, "landed", repo.git("ls-tree", "-r", "--name-only", res.Git.Branch), "keep\nlib/one.go\nlib/two.go\npkg/src/b/three.go")
}

// Programs look their user up by its number: initdb and ssh end where it has no name, node's os.userInfo throws.
func TestTheUserOfABoxHasANameInEveryImage(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	for _, image := range []string{agentImage, "debian:bookworm-slim"} {
		task := repo.task(`test "$(id -un):$(id -gn)" = agent:agent && getent passwd "$(id -u)" && test "$(perl -e 'print((getpwuid $<)[7])')" = "$HOME" && ! ls /nonexistent`,
			`if command -v node; then node -e 'if (require("os").userInfo().username != "agent") process.exit(1)'; fi`)
		task["box"] = map[string]any{"image": image}
		res, o := rig.execute(task)
		for _, c := range res.CommandsRun {
			if c.ExitCode == nil || *c.ExitCode != 0 {
				t.Errorf("%s: exit %d: %s\n%s%s", image, o.exit, c.Command, c.StdoutExcerpt, c.StderrExcerpt)
			}
		}
	}
}
