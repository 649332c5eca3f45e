package sandboxtest

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"sandboxrun/sandbox"
)

func (s suite) treeTests() map[string]func(t *testing.T) {
	return map[string]func(t *testing.T){
		"a plain directory is visible and changed in place": func(t *testing.T) {
			spec := Spec(t, s.options)
			plant(t, spec.Tree.Dir, "old", "before")
			box := s.open(t, func(s *sandbox.Spec) { s.Tree = spec.Tree })
			box.want("cat old; echo after > new; rm old", "before")
			box.close()
			if got, err := os.ReadFile(filepath.Join(spec.Tree.Dir, "new")); string(got) != "after\n" {
				t.Errorf("got %q, %v", got, err)
			}
			if _, err := os.Lstat(filepath.Join(spec.Tree.Dir, "old")); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("old: %v", err)
			}
		},
		"an overlay keeps its lower layers and collects changes": func(t *testing.T) {
			if !s.options.Overlay {
				t.Skip("this engine mounts no overlays")
			}
			tree := overlay(t)
			plant(t, tree.Lower[0], "top", "top")
			plant(t, tree.Lower[1], "kept", "kept")
			plant(t, tree.Lower[1], "gone", "gone")
			plant(t, tree.Upper, "given", "given")
			box := s.open(t, func(s *sandbox.Spec) { s.Tree = tree })
			box.want("cat top kept gone given | tr -d '\\n'; echo more >> kept; rm gone; mkdir d; echo new > d/new", "topkeptgonegiven")
			box.close()
			for name, want := range map[string]string{"kept": "keptmore\n", "d/new": "new\n", "given": "given"} {
				if got, err := os.ReadFile(filepath.Join(tree.Upper, name)); string(got) != want {
					t.Errorf("%s: got %q, %v", name, got, err)
				}
			}
			var st unix.Stat_t
			if err := unix.Lstat(filepath.Join(tree.Upper, "gone"), &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFCHR || st.Rdev != 0 {
				t.Errorf("gone: mode %o device %d, %v", st.Mode, st.Rdev, err)
			}
			if got, err := os.ReadFile(filepath.Join(tree.Lower[1], "kept")); string(got) != "kept" {
				t.Errorf("lower layer: %q, %v", got, err)
			}
		},
		"a directory of a lower layer can be renamed where the tree says so": func(t *testing.T) {
			if !s.options.Overlay {
				t.Skip("this engine mounts no overlays")
			}
			for rename, want := range map[bool]string{false: "lib/f 1", true: "moved/f 0"} {
				tree := overlay(t)
				tree.RenameDirs = rename
				if err := os.Mkdir(filepath.Join(tree.Lower[0], "lib"), 0o777); err != nil {
					t.Fatal(err)
				}
				give(t, filepath.Join(tree.Lower[0], "lib"))
				plant(t, filepath.Join(tree.Lower[0], "lib"), "f", "text")
				box := s.open(t, func(s *sandbox.Spec) { s.Tree = tree })
				box.want(`perl -e 'exit !rename "lib", "moved"' && code=0 || code=1; echo */f $code; cat */f > /dev/null`, want)
				box.close()
			}
		},
		"a read-only tree cannot be changed": func(t *testing.T) {
			trees := map[string]sandbox.Tree{"directory": Spec(t, s.options).Tree}
			if s.options.Overlay {
				trees["overlay"] = overlay(t)
			}
			for name, tree := range trees {
				plant(t, cmp.Or(tree.Dir, tree.Upper), "old", "before")
				tree.ReadOnly = true
				box := s.open(t, func(s *sandbox.Spec) { s.Tree = tree })
				box.want("cat old; echo after 2>/dev/null > new || echo refused; rm -f old 2>/dev/null || echo kept", "beforerefused\nkept")
				box.close()
				if _, err := os.Lstat(filepath.Join(cmp.Or(tree.Dir, tree.Upper), "new")); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("%s: new: %v", name, err)
				}
			}
		},
		"an overlay that cannot be mounted is reported as such": func(t *testing.T) {
			for name, change := range map[string]func(*sandbox.Tree){
				"upper and work on one path": func(o *sandbox.Tree) { o.Work = o.Upper },
				"a comma in a path":          func(o *sandbox.Tree) { o.Upper = moved(t, o.Upper, "a,b") },
				"a colon in a path":          func(o *sandbox.Tree) { o.Lower[0] = moved(t, o.Lower[0], "a:b") },
				"more options than a page": func(o *sandbox.Tree) {
					for range 400 {
						o.Lower = append(o.Lower, o.Lower[0])
					}
				},
			} {
				spec := Spec(t, s.options)
				spec.Tree = overlay(t)
				change(&spec.Tree)
				engine := s.newEngine(t)
				box, err := engine.Open(t.Context(), spec)
				if !errors.Is(err, sandbox.ErrOverlayUnsupported) {
					t.Errorf("%s: %v", name, err)
				}
				if err == nil {
					t.Logf("%s: close: %v", name, box.Close(t.Context()))
				}
				NothingLeft(t, engine, spec)
			}
		},
		"a tree that is a link is refused": func(t *testing.T) {
			spec := Spec(t, s.options)
			link := filepath.Join(t.TempDir(), "link")
			if err := os.Symlink(spec.Tree.Dir, link); err != nil {
				t.Fatal(err)
			}
			spec.Tree.Dir = link
			if box, err := s.newEngine(t).Open(t.Context(), spec); err == nil {
				t.Errorf("no error; close: %v", box.Close(t.Context()))
			}
		},
		"a directory with separators in its name works": func(t *testing.T) {
			name := "a,b:c d\\e"
			if s.options.PlainPaths {
				name = "a:b c\\d"
			}
			tree := sandbox.Tree{Dir: moved(t, Dir(t), name)}
			plant(t, tree.Dir, "f", "found")
			s.open(t, func(s *sandbox.Spec) { s.Tree = tree }).want("cat f", "found")
		},
		"mounts below the tree on the host are not visible": func(t *testing.T) {
			tree := sandbox.Tree{Dir: Dir(t)}
			below := filepath.Join(tree.Dir, "below")
			if err := os.Mkdir(below, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := unix.Mount("none", below, "tmpfs", 0, ""); err != nil {
				t.Skipf("cannot mount here: %v", err)
			}
			t.Cleanup(func() {
				if err := unix.Unmount(below, unix.MNT_DETACH); err != nil {
					t.Error(err)
				}
			})
			plant(t, below, "secret", "secret")
			// The mount of the test itself would count as left behind.
			spec := Spec(t, s.options)
			spec.Tree = tree
			box, err := s.newEngine(t).Open(t.Context(), spec)
			if err != nil && s.options.OwnKernel {
				return // gVisor refuses such a tree, which is safe too
			}
			if err != nil {
				t.Fatal(err)
			}
			got, err := room{Sandbox: box, t: t}.try(t.Context(), "ls below")
			if err != nil || strings.TrimSpace(got.out) != "" {
				t.Errorf("got %+v, %v", got, err)
			}
			if err := box.Close(t.Context()); err != nil {
				t.Error(err)
			}
		},
	}
}

func (r room) close() {
	r.t.Helper()
	if err := r.Close(r.ctx); err != nil {
		r.t.Fatal(err)
	}
}

// overlay makes the directories of an overlay with two lower layers.
func overlay(t testing.TB) sandbox.Tree {
	t.Helper()
	tree := sandbox.Tree{Lower: []string{Dir(t), Dir(t)}, Upper: Dir(t)}
	// Upper and work directories must be on one mount.
	tree.Work = filepath.Join(filepath.Dir(tree.Upper), "work")
	if err := os.Mkdir(tree.Work, 0o755); err != nil {
		t.Fatal(err)
	}
	return tree
}

func plant(t testing.TB, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	give(t, path)
}

// moved renames a directory and returns its new path.
func moved(t testing.TB, dir, name string) string {
	t.Helper()
	to := filepath.Join(filepath.Dir(dir), name)
	if err := os.Rename(dir, to); err != nil {
		t.Fatal(err)
	}
	return to
}
