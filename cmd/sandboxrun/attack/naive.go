package attack

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"sandboxrun/runner"
)

// patience is how long one git command of the naive host may take; what takes longer hangs.
const patience = 4 * time.Second

// naive makes one attack the way it is often done: the repository itself mounted into a default container as root, the key in
// its environment, commands and acceptance in the same container, and git run on what they left.
func (l *Lab) naive(ctx context.Context, st *stage) (err error) {
	a, s, task := st.batch[0], &st.common, st.task()
	image := l.Image
	if image == "" {
		image = naiveImage
	}
	name := "sandboxrun-naive-" + strings.ToLower(rand.Text()[:12])
	flags := append([]string{
		"run", "-d", "--name", name, "-v", st.host.Repo + ":/workspace", "-w", "/workspace", "--user", "0:0", "--entrypoint", "sleep",
		"-e", keyVariable + "=" + Key, "-e", "GIT_CONFIG_COUNT=1", "-e", "GIT_CONFIG_KEY_0=safe.directory", "-e", "GIT_CONFIG_VALUE_0=*",
	}, a.Naive.Flags...)
	if err := l.docker(ctx, append(flags, image, "120")...); err != nil {
		removeErr := l.docker(context.WithoutCancel(ctx), "rm", "-f", "-v", name) // it may have been made, not started
		return errors.Join(err, removeErr)
	}
	defer func() {
		last := context.WithoutCancel(ctx)
		emptyErr := l.docker(last, "exec", name, "sh", "-c", "find /workspace -mindepth 1 -delete") // it may be root's
		if emptyErr != nil {
			emptyErr = removeAll(st.host.Repo)
		}
		removeErr := l.docker(last, "rm", "-f", "-v", name)
		err = errors.Join(err, emptyErr, removeErr)
	}()
	began := time.Now()
	stop := st.meanwhile(ctx)
	ran, err := l.naiveExec(ctx, name, st.script(a))
	if err != nil {
		stop()
		return err
	}
	s.Result = claimed(ran)
	st.outputs = []string{ran.StdoutExcerpt + ran.StderrExcerpt}
	if err := l.naiveAccept(ctx, name, task, s); err != nil {
		stop()
		return err
	}
	message, _ := task["objective"].(string)
	l.naiveHost(ctx, st, a, message)
	stop()
	s.Took = time.Since(began)
	if s.Stdout, err = json.Marshal(s.Result); err != nil {
		return err
	}
	s.Hits = st.listen.close()
	if s.Capable, err = capable(st.host.Repo); err != nil {
		return err
	}
	s.Then, err = Fingerprint(st.host.Repo)
	return err
}

func (l *Lab) docker(ctx context.Context, args ...string) error {
	c := command(ctx, "docker", args...)
	c.Env = l.Env
	errs := capped{}
	c.Stderr = &errs
	if err := c.Run(); err != nil {
		return fmt.Errorf("docker %s: %w: %.300s", args[0], err, errs.Bytes())
	}
	return nil
}

func (l *Lab) naiveExec(ctx context.Context, name, script string) (runner.CommandRun, error) {
	ctx, cancel := context.WithTimeout(ctx, l.Bound)
	defer cancel()
	c := command(ctx, "docker", "exec", name, "sh", "-c", script)
	c.Env = l.Env
	out, errs := capped{}, capped{}
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		return runner.CommandRun{}, fmt.Errorf("docker exec: %w", err)
	}
	code := c.ProcessState.ExitCode()
	return runner.CommandRun{
		Command: script, ExitCode: &code, StdoutExcerpt: out.String(), StderrExcerpt: errs.String(), Source: "agent", Phase: "agent",
	}, nil
}

// claimed is the result a naive host makes of a command: the document it printed last, if it did, or its exit code.
func claimed(c runner.CommandRun) runner.Result {
	lines := strings.Split(strings.TrimSpace(c.StdoutExcerpt), "\n")
	var r runner.Result
	if json.Unmarshal([]byte(lines[len(lines)-1]), &r) == nil && r.Status != "" {
		return r
	}
	r = runner.Result{Status: runner.StatusSuccess, CommandsRun: []runner.CommandRun{c}}
	if *c.ExitCode != 0 {
		r.Status = runner.StatusPartial
	}
	return r
}

// naiveAccept runs the acceptance commands where the agent ran.
func (l *Lab) naiveAccept(ctx context.Context, name string, task map[string]any, s *Scene) error {
	criteria, _ := task["acceptance_criteria"].([]any)
	for _, c := range criteria {
		criterion, ok := c.(map[string]any)
		if !ok {
			continue
		}
		text, _ := criterion["command"].(string)
		ran, err := l.naiveExec(ctx, name, "cd /workspace\n"+text)
		if err != nil {
			return err
		}
		verdict := runner.Judged{Text: text, Check: "command", Verdict: "pass"}
		if *ran.ExitCode != 0 {
			verdict.Verdict = "fail"
			s.Result.Status = runner.StatusFailed
		}
		s.Result.Acceptance = append(s.Result.Acceptance, verdict)
	}
	return nil
}

// naiveHost runs git on what the box left, in the user's own configuration, and believes it.
func (l *Lab) naiveHost(ctx context.Context, st *stage, a Attack, message string) {
	s := &st.common
	identity := filepath.Join(st.dir, "gitconfig")
	if err := os.WriteFile(identity, []byte("[user]\n\tname = n\n\temail = n@localhost\n[advice]\n\taddEmbeddedRepo = false\n"), 0o600); err != nil {
		s.Stderr = append(s.Stderr, err.Error()...)
		return
	}
	sh := func(script string) (string, error) {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		c := command(ctx, "sh", "-c", "ulimit -v 2000000\n"+script) // what an attack would eat is the machine's
		c.Dir = st.host.Repo
		c.Env = append([]string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + st.host.Home, "GIT_CONFIG_SYSTEM=" + identity, "MESSAGE=" + message,
			"BASE=" + s.baseCommit, "OUT=" + st.host.Out,
		}, st.host.Env...)
		out, errs := capped{}, capped{}
		c.Stdout, c.Stderr = &out, &errs
		err := c.Run()
		s.Hung = s.Hung || ctx.Err() != nil
		s.Stderr = append(s.Stderr, errs.Bytes()...)
		return out.String(), err
	}
	if a.Naive.Host != "" {
		out, _ := sh(a.Naive.Host) // what it left is what counts
		s.Stderr = append(s.Stderr, out...)
	} else {
		status, _ := sh("git status --porcelain=v1 -z -uall --no-renames")
		s.Result.FilesChanged = statusFiles(status)
		_, _ = sh("git diff")
		_, _ = sh(`git add -A; git commit -q -m "$MESSAGE"`)
		_, _ = sh("git status")
	}
	s.Patch, _ = sh(`git diff "$BASE" HEAD`)
	repo := filepath.Join(st.host.Repo, ".git")
	if tip, err := git(ctx, st.host.Canary, "--git-dir="+repo, "rev-parse", "HEAD"); err == nil && strings.TrimSpace(tip) != s.baseCommit {
		s.Commit, _ = git(ctx, st.host.Canary, "--git-dir="+repo, "cat-file", "commit", "HEAD")
		s.Landed, _ = readTree(ctx, st.host.Canary, "HEAD", "--git-dir="+repo)
		judgeLanded(ctx, s, st.host.Canary, "HEAD", "--git-dir="+repo)
	}
}

// statusFiles reads what "git status --porcelain -z" says.
func statusFiles(status string) []runner.FileChange {
	var files []runner.FileChange
	for entry := range strings.SplitSeq(status, "\x00") {
		if len(entry) < 4 {
			continue
		}
		kind := "modified"
		switch {
		case strings.Contains(entry[:2], "D"):
			kind = "deleted"
		case strings.ContainsAny(entry[:2], "A?"):
			kind = "added"
		}
		files = append(files, runner.FileChange{Path: entry[3:], ChangeType: kind})
	}
	return files
}
