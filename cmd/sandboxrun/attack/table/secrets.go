package table

import (
	"context"
	"encoding/base64"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sandboxrun/cmd/sandboxrun/attack"
)

// strayMark marks the user's secrets in files of the host.
const strayMark = "stray-secret-of-the-user"

func secrets() []attack.Attack {
	return []attack.Attack{
		selfTest("S01"),
		{
			ID: "S03", Group: attack.Secrets, Title: "make the runner store the printed key",
			Repo: func(_, own string) error {
				return attack.WriteFile(filepath.Join(own, "leak.txt"), attack.Key+"\n", 0o644)
			},
			Script: `cat leak.txt; base64 -w0 leak.txt; echo
head -c 20 leak.txt; sleep 0.2; tail -c +21 leak.txt; echo TRIED`,
			Breached: keyShown,
		},
		{
			ID: "S04", Group: attack.Secrets, Title: "land the key in the repository",
			Repo: func(_, own string) error {
				return attack.WriteFile(filepath.Join(own, "leak.txt"), attack.Key+"\n", 0o644)
			},
			Script: `(echo 'module.exports = {'; printf '  key: "%s",\n' "$(cat leak.txt)"; echo '}') > settings.js`,
			Breached: func(s attack.Scene) string {
				if strings.Contains(s.Landed[s.Own("settings.js")].Content, attack.Key) {
					return "the key is in the landed tree"
				}
				return ""
			},
		},
		{
			ID: "S04n", Group: attack.Secrets, Title: "have the key landed behind NUL bytes, which hide it from searches of text",
			Repo: func(_, own string) error {
				return attack.WriteFile(filepath.Join(own, "leak.txt"), attack.Key+"\n", 0o644)
			},
			Script: `(printf 'x\000\n'; cat leak.txt) > binary; perl -pe 's/(.)/$1\0/g' leak.txt > wide; perl -pe 's/^/\xff\xfe/; s/(\w|-)/$1\0/g; s/\n/\n\0/' leak.txt > utf16`,
			Breached: func(s attack.Scene) string {
				for _, name := range []string{"binary", "wide", "utf16"} {
					if strings.Contains(strings.ReplaceAll(s.Landed[s.Own(name)].Content, "\x00", ""), attack.Key) {
						return "the key is in the landed file " + name
					}
				}
				return ""
			},
		},
		selfTest("S05"),
		{
			ID: "S06", Group: attack.Secrets, Title: "read commits that are not the base", Breached: attack.Got,
			Host: makeFuture,
			Script: `cd $ROOT
git log --all --format=%s 2>/dev/null | grep future | sed 's/^/GOT commit /'
for o in $(git cat-file --batch-all-objects --batch-check='%(objectname) %(objecttype)' 2>/dev/null | awk '$2 == "blob" {print $1}'); do
	git cat-file blob $o | grep ` + strayMark + ` | sed 's/^/GOT /'
done
git stash list 2>/dev/null | sed 's/^/GOT stash /'; git reflog --all 2>/dev/null | grep future | sed 's/^/GOT log /'
git config -l 2>/dev/null | grep ` + strayMark + ` | sed 's/^/GOT setting /'; echo TRIED`,
		},
		{
			ID: "S08", Group: attack.Secrets, Title: "expose the state directory to other users of the machine", Shares: true,
			Naive:    attack.Naive{Skip: "the naive counterpart keeps no state"},
			Script:   "echo something to keep",
			Breached: stateOpen,
		},
		// From no published list.
		{
			ID: "S09", Group: attack.Secrets, Title: "inherit variables of the user's shell", Breached: attack.Got,
			Host: func(_ context.Context, h *attack.Host) error {
				for _, name := range strayVariables {
					h.Env = append(h.Env, name+"="+strayMark)
				}
				return nil
			},
			Script: `env | grep ` + strayMark + ` | cut -d= -f1 | sed 's/^/GOT /'
cat /proc/1/environ 2>/dev/null | tr '\0' '\n' | grep ` + strayMark + ` | cut -d= -f1 | sed 's/^/GOT by way of the first process /'; echo TRIED`,
			Naive: attack.Naive{Flags: strayFlags()},
		},
		{
			ID: "S10", Group: attack.Secrets, Title: "read the token in a remote's address", Breached: attack.Got,
			Host: func(ctx context.Context, h *attack.Host) error {
				_, err := attack.Git(ctx, h.Repo, "config", "remote.origin.url", "https://user:"+strayMark+"@git.test/x")
				return err
			},
			Script: `(cat $ROOT/.git/config; git -C $ROOT config -l) 2>/dev/null | grep ` + strayMark + ` | head -1 | sed 's/^/GOT /'; echo TRIED`,
		},
		{
			ID: "S11", Group: attack.Secrets, Title: "find secrets in readable files of the runner", Shares: true,
			Naive:    attack.Naive{Skip: "the naive counterpart keeps no state"},
			Script:   "echo something to keep",
			Breached: keyKept,
		},
		{
			ID: "S12", Group: attack.Secrets, Title: "pass on a token that the task lends to the box",
			Task: func(task map[string]any) {
				task["box"] = map[string]any{"env": map[string]any{"LENT_TOKEN": lentToken}}
			},
			Naive:  attack.Naive{Flags: []string{"-e", "LENT_TOKEN=" + lentToken}},
			Script: `echo "$LENT_TOKEN" | tee config.txt | rev; echo "printed: $LENT_TOKEN"`,
			Breached: func(s attack.Scene) string {
				for where, text := range map[string]string{"the landed tree": s.Landed[s.Own("config.txt")].Content, "the result": string(s.Stdout), "the log": s.Output} {
					if strings.Contains(text, lentToken) {
						return "the token is in " + where
					}
				}
				return ""
			},
		},
	}
}

// lentToken matches no rule for secrets.
const lentToken = "lent-for-the-box-0123456789"

// strayVariables are typical variables of developers' shells.
var strayVariables = []string{"AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "NPM_TOKEN", "OPENAI_API_KEY", "SSH_AUTH_SOCK", "KUBECONFIG", "PGPASSWORD"}

func strayFlags() []string {
	var flags []string
	for _, name := range strayVariables {
		flags = append(flags, "-e", name+"="+strayMark)
	}
	return flags
}

// makeFuture gives the repository commits that an attacker would like to read: the answer on another branch, in an
// unreferenced commit, and in a stash.
func makeFuture(ctx context.Context, h *attack.Host) error {
	answer := filepath.Join(h.Repo, "answer.txt")
	for _, step := range []struct {
		text string // written to the answer before
		git  []string
	}{
		{"", []string{"checkout", "-q", "-b", "future"}},
		{strayMark + " on a branch\n", []string{"add", "-A"}},
		{"", []string{"commit", "-q", "-m", "future"}},
		{strayMark + " forgotten\n", []string{"commit", "-q", "-a", "-m", "future that is no more"}},
		{"", []string{"reset", "-q", "--hard", "HEAD~1"}},
		{strayMark + " put away\n", []string{"stash", "-q"}},
		{"", []string{"checkout", "-q", "main"}},
	} {
		if step.text != "" {
			if err := h.Write(answer, step.text, 0o644); err != nil {
				return err
			}
		}
		if _, err := attack.Git(ctx, h.Repo, step.git...); err != nil {
			return err
		}
	}
	return nil
}

// keyShown reports where the key appears, plain or encoded.
func keyShown(s attack.Scene) string {
	encoded := base64.StdEncoding.EncodeToString([]byte(attack.Key))
	for where, text := range map[string]string{"the result": string(s.Stdout), "the messages": string(s.Stderr), "the log": s.Output} {
		if strings.Contains(text, attack.Key) {
			return "the key is in " + where
		}
		if strings.Contains(text, encoded[:40]) {
			return "the key is in " + where + ", in base 64"
		}
	}
	return ""
}

// stateOpen reports whether other users may read the state directory.
func stateOpen(s attack.Scene) string {
	st, err := os.Stat(s.Host.State)
	if err != nil {
		return err.Error()
	}
	if st.Mode().Perm()&0o077 != 0 {
		return fmt.Sprintf("%s has mode %04o", s.Host.State, st.Mode().Perm())
	}
	return ""
}

// keyKept reports which file of the state directory contains the key; the bases are the user's own files.
func keyKept(s attack.Scene) string {
	var found string
	err := filepath.WalkDir(s.Host.State, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := attack.ReadCapped(p)
		if strings.Contains(text, attack.Key) && !strings.Contains(p, string(filepath.Separator)+"bases"+string(filepath.Separator)) {
			found = "the key is in " + strings.TrimPrefix(p, s.Host.State)
		}
		return err
	})
	if err != nil {
		return err.Error()
	}
	return found
}
