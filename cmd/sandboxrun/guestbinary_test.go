package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestCheckStaticTellsProgramsApart(t *testing.T) {
	t.Parallel()
	if err := checkStatic(staticProgram(t)); err != nil {
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
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := checkStatic(script); err == nil || errors.Is(err, errNotStatic) {
		t.Errorf("a script: %v, want another error", err)
	}
}
