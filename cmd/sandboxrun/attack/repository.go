package attack

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// sample is the project in every attacked repository: its test fails until sum.sh is fixed.
var sample = map[string]string{
	"README.md":  "# sample\n\nAdds numbers.\n",
	"sum.sh":     "#!/bin/sh\n# prints the sum of two numbers\necho $(($1 - $2))\n",
	"test.sh":    "#!/bin/sh\n[ \"$(sh sum.sh 2 3)\" = 5 ]\n",
	"old.txt":    "to be deleted\n",
	".gitignore": "ignored/\n",
}

// makeRepository makes the user's repository at root with what the attacks add to the base.
func makeRepository(ctx context.Context, root string, batch []Attack) error {
	for name, body := range sample {
		if err := WriteFile(filepath.Join(root, name), body, 0o644); err != nil {
			return err
		}
	}
	if _, err := Git(ctx, root, "init", "-q", "-b", "main"); err != nil {
		return err
	}
	for _, a := range batch {
		if a.Repo == nil {
			continue
		}
		own := filepath.Join(root, strings.ToLower(a.ID))
		if err := os.MkdirAll(own, 0o755); err != nil {
			return err
		}
		if err := a.Repo(root, own); err != nil {
			return fmt.Errorf("base of %s: %w", a.ID, err)
		}
	}
	if _, err := Git(ctx, root, "add", "-A"); err != nil {
		return err
	}
	for _, a := range batch {
		if a.Submodule == "" {
			continue
		}
		at := strings.ToLower(a.ID) + "/" + a.Submodule
		if err := os.MkdirAll(filepath.Join(root, at), 0o755); err != nil {
			return err
		}
		if _, err := Git(ctx, root, "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+","+at); err != nil {
			return err
		}
	}
	if _, err := Git(ctx, root, "commit", "-q", "-m", "base"); err != nil {
		return err
	}
	// Older than the index by more than any clock's resolution: git's stat cache may trust it.
	past := time.Now().Add(-time.Hour)
	err := filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.HasPrefix(p, filepath.Join(root, ".git")) {
			return err
		}
		return os.Chtimes(p, past, past) //nolint:gosec // not in use yet
	})
	if err != nil {
		return err
	}
	_, err = Git(ctx, root, "update-index", "-q", "--refresh")
	return err
}

// Git runs git in dir, free of this machine's configuration.
func Git(ctx context.Context, dir string, args ...string) (string, error) {
	return gitWith(ctx, dir, "", nil, args...)
}

func gitInput(ctx context.Context, dir, input string, args ...string) (string, error) {
	return gitWith(ctx, dir, input, nil, args...)
}

// gitIndex runs git with an index of its own.
func gitIndex(ctx context.Context, dir, index string, args ...string) (string, error) {
	return gitWith(ctx, dir, "", []string{"GIT_INDEX_FILE=" + index}, args...)
}

func gitWith(ctx context.Context, dir, input string, env []string, args ...string) (string, error) {
	c := Command(ctx, "git", append([]string{"-C", dir, "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"}, args...)...)
	c.Stdin = strings.NewReader(input)
	c.Env = append(os.Environ(), "HOME=/nonexistent", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@localhost", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@localhost")
	c.Env = append(c.Env, env...)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("git %s: %w: %.500s", strings.Join(args, " "), err, errs.Bytes())
	}
	return out.String(), nil
}
