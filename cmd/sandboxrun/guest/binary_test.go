package guest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestCheckStaticAcceptsOnlyStaticPrograms(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	static, source := filepath.Join(dir, "static"), filepath.Join(dir, "main.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", static, source)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	if err := checkStatic(static); err != nil {
		t.Errorf("a program built without cgo: %v", err)
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	if sh, err = filepath.EvalSymlinks(sh); err != nil {
		t.Fatal(err)
	}
	if err := checkStatic(sh); !errors.Is(err, errNotStatic) {
		t.Errorf("%s: %v, want errNotStatic", sh, err)
	}
	script := filepath.Join(dir, "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := checkStatic(script); err == nil || errors.Is(err, errNotStatic) {
		t.Errorf("a script: %v, want another error", err)
	}
}
