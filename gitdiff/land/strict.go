package land

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"sandboxrun/gitdiff/gitfile"
	"sandboxrun/gitdiff/gitname"

	"github.com/go-git/go-git/v5/plumbing"
)

// Bounds of git's own check of a landing.
const (
	strictTime   = 60 * time.Second
	strictOutput = 64 << 10
)

// namedObject finds the objects that git complains about.
var namedObject = regexp.MustCompile(`\bobject ([0-9a-f]{40})\b`)

// strict has the git of this host check the staged pack as "git fsck --strict" would check a repository: every object of
// the pack, the links between them, and those that lead into what the user has. Where there is no git, our own checks
// (landingSet.tree) stand alone. The cost follows the pack, not the repository.
//
// Git is given a pack and nothing else: no work tree, no configuration of the user or the system, no hooks, no network.
func (s *landingSet) strict(ctx context.Context, p *landingPack) error {
	program, err := exec.LookPath("git")
	if err != nil {
		return nil // git is optional
	}
	ctx, cancel := context.WithTimeout(ctx, strictTime)
	defer cancel()
	output, err := s.indexPack(ctx, program, p)
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("git's own check: %w", context.Cause(ctx))
	}
	if s.olderTrouble(output) {
		return nil
	}
	return fmt.Errorf("%w by git: %s", ErrRefused, gitname.Clip(strings.TrimSpace(output), 1000))
}

func (s *landingSet) indexPack(ctx context.Context, program string, p *landingPack) (output string, err error) {
	var borrowed []string
	for _, dir := range s.repo.ObjectDirs() {
		borrowed = append(borrowed, gitfile.Quote(dir))
	}
	// A repository of nothing, so that git checks the pack in full although the runner's store has its objects too.
	if err := os.MkdirAll(filepath.Join(p.stage, "check", "refs"), 0o700); err != nil {
		return "", err
	}
	for name, text := range map[string]string{"HEAD": "ref: refs/heads/main\n", "config": "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"} {
		if err := os.WriteFile(filepath.Join(p.stage, "check", name), []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	if err := os.MkdirAll(filepath.Join(p.stage, "check", "objects"), 0o700); err != nil {
		return "", err
	}
	// Git reads files like .gitattributes back by way of the index it makes, whose name must be the pack's.
	pack := filepath.Join(p.stage, "check.pack")
	if err := os.Symlink(p.name+".pack", pack); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, program, "--git-dir="+filepath.Join(p.stage, "check"), "--no-pager",
		"-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "protocol.allow=never",
		"-c", "core.fsync=none", // the index that git makes for its check is removed with it
		"index-pack", "--strict", "-o", filepath.Join(p.stage, "check.idx"), pack)
	cmd.Dir = "/"
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_ATTR_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=/bin/false", "SSH_ASKPASS=/bin/false", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1",
		"GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "GIT_CEILING_DIRECTORIES=/", "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + strings.Join(borrowed, ":"),
	}
	var out cutBuffer
	cmd.Stderr = &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	err = cmd.Run()
	return out.String(), err
}

// olderTrouble reports whether everything git complains about is an object the user had before: it is not this landing's
// to judge. Git checks a .gitmodules whose directory changed even when it did not.
func (s *landingSet) olderTrouble(output string) bool {
	named := 0
	for line := range strings.Lines(output) {
		m := namedObject.FindStringSubmatch(line)
		switch {
		case m == nil && (strings.HasPrefix(line, "fatal: fsck error in pack objects") || strings.TrimSpace(line) == ""):
		case m == nil || s.seen[plumbing.NewHash(m[1])]:
			return false
		default:
			named++
		}
	}
	return named > 0
}

// cutBuffer keeps the beginning of what is written to it. It hides the buffer's ReadFrom, which has no bound.
type cutBuffer struct{ kept bytes.Buffer }

func (b *cutBuffer) Write(p []byte) (int, error) {
	if room := strictOutput - b.kept.Len(); room > 0 {
		b.kept.Write(p[:min(len(p), room)])
	}
	return len(p), nil
}

func (b *cutBuffer) String() string { return b.kept.String() }
