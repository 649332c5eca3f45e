package source

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tree writes files below a new directory; a name that ends with "@" is a link to its content.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, strings.TrimSuffix(name, "@"))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if strings.HasSuffix(name, "@") {
			err = os.Symlink(content, path)
		} else {
			err = os.WriteFile(path, []byte(content), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// names lists the archive of a source; links are shown with their target.
func names(t *testing.T, s Source) []string {
	t.Helper()
	var b bytes.Buffer
	if err := s.Write(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	var list []string
	for r := tar.NewReader(&b); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, strings.TrimSuffix(h.Name+" "+h.Linkname, " "))
	}
}

func TestContextLeavesOutWhatDockerignoreNames(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{
		"Dockerfile": "FROM x\n", ".dockerignore": "node_modules\n*.log\n!keep.log\nDockerfile\n", "node_modules/a/b": "x",
		"x.log": "", "keep.log": "", "src/main.py": "", "out@": "/etc/passwd",
	})
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	got := names(t, Source{Dir: dir, Dockerfile: "Dockerfile"})
	want := []string{".dockerignore", "Dockerfile", "keep.log", "out /etc/passwd", "src/", "src/main.py"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

func TestDigestFollowsContentAndNotTime(t *testing.T) {
	t.Parallel()
	files := map[string]string{"Dockerfile": "FROM x\n", "a": "1"}
	one, two := Source{Dir: tree(t, files), Dockerfile: "Dockerfile"}, Source{Dir: tree(t, files), Dockerfile: "Dockerfile"}
	digest := func(s Source) string {
		d, err := s.Digest(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	if digest(one) != digest(two) {
		t.Error("the same files have two digests")
	}
	two.Args = map[string]string{"A": "1"}
	if digest(one) == digest(two) {
		t.Error("an argument does not change the digest")
	}
	if err := os.WriteFile(filepath.Join(one.Dir, "a"), []byte("2"), 0o644); err != nil {
		t.Fatal(err)
	}
	two.Args = nil
	if digest(one) == digest(two) {
		t.Error("a file's content does not change the digest")
	}
}

func TestContextIsBounded(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{"Dockerfile": "FROM x\n", "large": ""})
	if err := os.Truncate(filepath.Join(dir, "large"), maxContextBytes+1); err != nil {
		t.Fatal(err)
	}
	var limit *LimitError
	if err := (Source{Dir: dir, Dockerfile: "Dockerfile"}).Write(t.Context(), io.Discard); !errors.As(err, &limit) {
		t.Errorf("a directory of a gigabyte: %v", err)
	}
	err := (Source{Dir: dir, Dockerfile: "Nothing"}).Write(t.Context(), io.Discard)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no Dockerfile: %v", err)
	}
}

func TestDevcontainerIsReadWithCommentsAndTrailingCommas(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{
		".devcontainer/devcontainer.json": `// a comment
{
	"name": "x", /* another */
	"build": {"dockerfile": "Dockerfile", "context": "..", "args": {"V": "1"}, "target": "dev",},
	"features": {}, "postCreateCommand": "make",
}`, ".devcontainer/Dockerfile": "FROM x\n",
	})
	d, err := ReadDevcontainer(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := Devcontainer{
		File: ".devcontainer/devcontainer.json", Unused: []string{"features", "postCreateCommand"},
		Build: &Source{Dir: dir, Dockerfile: ".devcontainer/Dockerfile", Target: "dev", Args: map[string]string{"V": "1"}},
	}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
	if list := names(t, *d.Build); !slices.Contains(list, ".devcontainer/Dockerfile") {
		t.Errorf("the context holds %q", list)
	}
	image := tree(t, map[string]string{".devcontainer.json": `{"image": "python:3.12"}`})
	if d, err := ReadDevcontainer(image); err != nil || d.Image != "python:3.12" || d.Build != nil {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestDevcontainerCannotReachOutOfItsDirectory(t *testing.T) {
	t.Parallel()
	outside := tree(t, map[string]string{"Dockerfile": "FROM x\n", "secret": ""})
	for name, files := range map[string]map[string]string{
		"context above":        {".devcontainer.json": `{"build": {"dockerfile": "Dockerfile", "context": ".."}}`},
		"absolute context":     {".devcontainer.json": `{"build": {"dockerfile": "Dockerfile", "context": "/"}}`},
		"context by a link":    {".devcontainer.json": `{"build": {"dockerfile": "ctx/Dockerfile", "context": "ctx"}}`, "ctx@": outside},
		"Dockerfile above":     {".devcontainer.json": `{"build": {"dockerfile": "../Dockerfile"}}`},
		"variable of the host": {".devcontainer.json": `{"build": {"dockerfile": "Dockerfile", "args": {"K": "${localEnv:KEY}"}}}`, "Dockerfile": ""},
		"image by a variable":  {".devcontainer.json": `{"image": "x:${localEnv:V}"}`},
		"both":                 {".devcontainer.json": `{"image": "x", "build": {"dockerfile": "Dockerfile"}}`},
		"compose":              {".devcontainer.json": `{"dockerComposeFile": "x.yml"}`},
		"a number":             {".devcontainer.json": `{"image": 1}`},
		"no JSON":              {".devcontainer.json": `image: x`},
	} {
		d, err := ReadDevcontainer(tree(t, files))
		var bad *FieldError
		if !errors.As(err, &bad) || strings.Contains(bad.Error(), "Go ") {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
	}
	for _, files := range []map[string]string{{".devcontainer.json@": outside + "/secret"}, {}} {
		if d, err := ReadDevcontainer(tree(t, files)); err == nil {
			t.Errorf("%v: %+v", files, d)
		}
	}
	// A Dockerfile that is a link is none.
	dir := tree(t, map[string]string{"Dockerfile@": outside + "/secret"})
	if err := (Source{Dir: dir, Dockerfile: "Dockerfile"}).Write(t.Context(), io.Discard); err == nil {
		t.Error("a link was taken for a Dockerfile")
	}
}
