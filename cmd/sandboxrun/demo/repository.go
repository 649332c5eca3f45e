package demo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"sandboxrun/runner/document"
)

// MakeRepository writes files into a new git repository in dir and commits them. It runs git, which only the demo
// needs: the repository is the program's own, and the user's git configuration does not apply.
func MakeRepository(ctx context.Context, dir string, files fs.FS) error {
	if _, err := exec.LookPath("git"); err != nil {
		return &document.InputError{Message: "the demo makes its sample repository with git, which is not installed", Hint: "install git"}
	}
	if err := os.CopyFS(dir, files); err != nil {
		return fmt.Errorf("write sample files: %w", err)
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--template="},
		{"symbolic-ref", "HEAD", "refs/heads/main"},
		{"add", "--all"},
		{"commit", "--quiet", "--message", "Sample: a script, its test, and a bug"},
	} {
		if _, err := Git(ctx, dir, args...); err != nil {
			return err
		}
	}
	return nil
}

// Git runs git in the sample repository and returns its output.
func Git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LC_ALL=C",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CEILING_DIRECTORIES=" + filepath.Dir(dir),
		"GIT_AUTHOR_NAME=sandboxrun demo", "GIT_AUTHOR_EMAIL=demo@sandboxrun.invalid",
		"GIT_COMMITTER_NAME=sandboxrun demo", "GIT_COMMITTER_EMAIL=demo@sandboxrun.invalid",
	}
	out, err := cmd.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(string(failed.Stderr)))
	}
	if err != nil {
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return string(out), nil
}
