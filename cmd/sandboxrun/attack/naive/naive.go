// Package naive is the counterpart against which attacks succeed: the repository itself in a plain container, and git
// on the host afterwards.
package naive

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

	"sandboxrun/cmd/sandboxrun/attack"
	"sandboxrun/runner/document"
)

// patience is how long one git command of the naive host may take; a longer one counts as hung.
const patience = 4 * time.Second

// defaultImage is the image of the boxes where the lab names none.
const defaultImage = "sandboxrun/agent"

// opponent is the naive counterpart, in a lab.
type opponent struct{ lab *attack.Lab }

// Run makes one attack against the naive counterpart. The error comes from the lab, not from the counterpart.
func Run(ctx context.Context, l *attack.Lab, a attack.Attack) (attack.Outcome, error) {
	out, err := l.Play(ctx, []attack.Attack{a}, attack.Where{Naive: true}, opponent{l}.act)
	if err != nil {
		return attack.Outcome{}, err
	}
	return out[0], nil
}

// act makes one attack as it is often done: the repository itself mounted into a default container as root, the key in
// its environment, commands and acceptance in the same container, and git run on the result.
func (n opponent) act(ctx context.Context, st *attack.Stage) (err error) {
	a, s, task := st.Attacks[0], &st.Scene, st.Task()
	image := n.lab.Image
	if image == "" {
		image = defaultImage
	}
	name := "sandboxrun-naive-" + strings.ToLower(rand.Text()[:12])
	flags := append([]string{
		"run", "-d", "--name", name, "-v", st.Host.Repo + ":/workspace", "-w", "/workspace", "--user", "0:0", "--entrypoint", "sleep",
		"-e", attack.KeyVariable + "=" + attack.Key, "-e", "GIT_CONFIG_COUNT=1", "-e", "GIT_CONFIG_KEY_0=safe.directory", "-e", "GIT_CONFIG_VALUE_0=*",
	}, a.Naive.Flags...)
	if err := n.docker(ctx, append(flags, image, "120")...); err != nil {
		removeErr := n.docker(context.WithoutCancel(ctx), "rm", "-f", "-v", name) // it may exist without having started
		return errors.Join(err, removeErr)
	}
	defer func() {
		last := context.WithoutCancel(ctx)
		emptyErr := n.docker(last, "exec", name, "sh", "-c", "find /workspace -mindepth 1 -delete") // files may belong to root
		if emptyErr != nil {
			emptyErr = attack.RemoveAll(st.Host.Repo)
		}
		removeErr := n.docker(last, "rm", "-f", "-v", name)
		err = errors.Join(err, emptyErr, removeErr)
	}()
	began := time.Now()
	stop := st.Meanwhile(ctx)
	ran, err := n.exec(ctx, name, st.Script(a))
	if err != nil {
		stop()
		return err
	}
	s.Result = claimed(ran)
	st.Outputs = []string{ran.StdoutExcerpt + ran.StderrExcerpt}
	if err := n.accept(ctx, name, task, s); err != nil {
		stop()
		return err
	}
	message, _ := task["objective"].(string)
	n.host(ctx, st, a, message)
	stop()
	s.Took = time.Since(began)
	if s.Stdout, err = json.Marshal(s.Result); err != nil {
		return err
	}
	return st.Measure() // before the clean-up empties the repository
}

func (n opponent) docker(ctx context.Context, args ...string) error {
	c := attack.Command(ctx, "docker", args...)
	c.Env = n.lab.Env
	errs := attack.Output{}
	c.Stderr = &errs
	if err := c.Run(); err != nil {
		return fmt.Errorf("docker %s: %w: %.300s", args[0], err, errs.Bytes())
	}
	return nil
}

func (n opponent) exec(ctx context.Context, name, script string) (document.CommandRun, error) {
	ctx, cancel := context.WithTimeout(ctx, n.lab.Bound)
	defer cancel()
	c := attack.Command(ctx, "docker", "exec", name, "sh", "-c", script)
	c.Env = n.lab.Env
	out, errs := attack.Output{}, attack.Output{}
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		return document.CommandRun{}, fmt.Errorf("docker exec: %w", err)
	}
	code := c.ProcessState.ExitCode()
	return document.CommandRun{
		Command: script, ExitCode: &code, StdoutExcerpt: out.String(), StderrExcerpt: errs.String(), Source: "agent", Phase: "agent",
	}, nil
}

// claimed is the result a naive host derives from a command: the document it printed last, if any, or its exit code.
func claimed(c document.CommandRun) document.Result {
	lines := strings.Split(strings.TrimSpace(c.StdoutExcerpt), "\n")
	var r document.Result
	if json.Unmarshal([]byte(lines[len(lines)-1]), &r) == nil && r.Status != "" {
		return r
	}
	r = document.Result{Status: document.StatusSuccess, CommandsRun: []document.CommandRun{c}}
	if *c.ExitCode != 0 {
		r.Status = document.StatusPartial
	}
	return r
}

// accept runs the set-up and acceptance commands where the agent ran.
func (n opponent) accept(ctx context.Context, name string, task map[string]any, s *attack.Scene) error {
	setup, _ := task["setup_commands"].([]any)
	for _, c := range setup {
		text, _ := c.(string)
		if _, err := n.exec(ctx, name, "cd /workspace\n"+text); err != nil {
			return err
		}
	}
	criteria, _ := task["acceptance_criteria"].([]any)
	for _, c := range criteria {
		criterion, ok := c.(map[string]any)
		if !ok {
			continue
		}
		text, _ := criterion["command"].(string)
		ran, err := n.exec(ctx, name, "cd /workspace\n"+text)
		if err != nil {
			return err
		}
		verdict := document.Judged{Text: text, Check: "command", Verdict: "pass"}
		if *ran.ExitCode != 0 {
			verdict.Verdict = "fail"
			s.Result.Status = document.StatusFailed
		}
		s.Result.Acceptance = append(s.Result.Acceptance, verdict)
	}
	return nil
}

// host runs git on the files of the box, in the user's own configuration, and trusts its output.
func (n opponent) host(ctx context.Context, st *attack.Stage, a attack.Attack, message string) {
	s := &st.Scene
	identity := filepath.Join(st.Dir, "gitconfig")
	if err := os.WriteFile(identity, []byte("[user]\n\tname = n\n\temail = n@localhost\n[advice]\n\taddEmbeddedRepo = false\n"), 0o600); err != nil {
		s.Stderr = append(s.Stderr, err.Error()...)
		return
	}
	sh := func(script string) (string, error) {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		c := attack.Command(ctx, "sh", "-c", "ulimit -v 2000000\n"+script) // bounds memory that the attack would take from the machine
		c.Dir = st.Host.Repo
		c.Env = append([]string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + st.Host.Home, "GIT_CONFIG_SYSTEM=" + identity, "MESSAGE=" + message,
			"BASE=" + s.BaseCommit, "OUT=" + st.Host.Out,
		}, st.Host.Env...)
		out, errs := attack.Output{}, attack.Output{}
		c.Stdout, c.Stderr = &out, &errs
		err := c.Run()
		s.Hung = s.Hung || ctx.Err() != nil
		s.Stderr = append(s.Stderr, errs.Bytes()...)
		return out.String(), err
	}
	if a.Naive.Host != "" {
		out, _ := sh(a.Naive.Host) // only its effects count
		s.Stderr = append(s.Stderr, out...)
	} else {
		status, _ := sh("git status --porcelain=v1 -z -uall --no-renames")
		s.Result.FilesChanged = statusFiles(status)
		_, _ = sh("git diff")
		_, _ = sh(`git add -A; git commit -q -m "$MESSAGE"`)
		_, _ = sh("git status")
	}
	s.Patch, _ = sh(`git diff "$BASE" HEAD`)
	repo := filepath.Join(st.Host.Repo, ".git")
	if tip, err := attack.Git(ctx, st.Host.Canary, "--git-dir="+repo, "rev-parse", "HEAD"); err == nil && strings.TrimSpace(tip) != s.BaseCommit {
		_ = st.ReadLanded(ctx, st.Host.Canary, "HEAD", "--git-dir="+repo) // an unreadable commit did not land
	}
}

// statusFiles parses the output of "git status --porcelain -z".
func statusFiles(status string) []document.FileChange {
	var files []document.FileChange
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
		files = append(files, document.FileChange{Path: entry[3:], ChangeType: kind})
	}
	return files
}
