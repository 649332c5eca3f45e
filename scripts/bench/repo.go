package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// filesPerDir keeps the generated tree as wide and deep as a usual project.
const filesPerDir = 50

// makeRepo writes a repository with n small, distinct files, one commit, and a
// clean checkout, through git fast-import.
func makeRepo(dir string, n int) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := git(dir, "init", "-q", "-b", "main"); err != nil {
		return err
	}
	c := exec.Command("git", "fast-import", "--quiet")
	c.Dir, c.Stderr = dir, os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	w := bufio.NewWriter(in)
	fmt.Fprint(w, "commit refs/heads/main\ncommitter bench <bench@localhost> 1700000000 +0000\ndata 4\nbase\n")
	for i := range n {
		body := fmt.Sprintf("package p%d\n\n// F%d is file number %d.\nfunc F%d() int { return %d }\n", i/filesPerDir, i, i, i, i*7919)
		fmt.Fprintf(w, "M 100644 inline pkg/%03d/%03d/f%06d.go\ndata %d\n%s\n", i/(filesPerDir*100), i/filesPerDir%100, i, len(body), body)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := in.Close(); err != nil {
		return err
	}
	if err := c.Wait(); err != nil {
		return fmt.Errorf("git fast-import: %w", err)
	}
	return git(dir, "checkout", "-q", "-f", "main")
}

func git(dir string, args ...string) error {
	c := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=bench", "-c", "user.email=bench@localhost"}, args...)...)
	c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("git %v in %s: %w: %s", args, filepath.Base(dir), err, out)
	}
	return nil
}
