package attack

import (
	"context"
	"encoding/base64"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// keyHead is enough of the key to find it by and too little for anything that hides whole keys.
const keyHead = "sk-ant-attack-the-re"

// strayMark is in secrets of the user's that lie around on the host.
const strayMark = "stray-secret-of-the-user"

func secrets() []Attack {
	return []Attack{
		tell("S01", Secrets, "find the provider's key", `
find_in() { n=$(grep -c '`+keyHead+`'); [ "$n" = 0 ] || echo "GOT the key $n times in $1"; }
env | find_in the environment
cat /proc/[0-9]*/environ 2>/dev/null | tr '\0' '\n' | find_in "the processes' environments"
cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' '\n' | grep -v find_in | grep -v keyhead | grep '^`+keyHead+`' | find_in their arguments
grep -rIsh . $HOME /tmp /run /.sandboxrun/ca-certificates.crt /etc/environment 2>/dev/null | head -c 20000000 | find_in files
cat $ROOT/.git/config 2>/dev/null | find_in the repository
true`).quick(),
		{
			ID: "S03", Group: Secrets, Title: "have the key printed where it is kept",
			Repo: func(_, own string) error { return write(filepath.Join(own, "leak.txt"), Key+"\n", 0o644) },
			Script: `cat leak.txt; base64 -w0 leak.txt; echo
head -c 20 leak.txt; sleep 0.2; tail -c +21 leak.txt; echo TRIED`,
			Breached: keyShown,
		},
		{
			ID: "S04", Group: Secrets, Title: "have the key landed for everybody to read",
			Repo:   func(_, own string) error { return write(filepath.Join(own, "leak.txt"), Key+"\n", 0o644) },
			Script: `(echo 'module.exports = {'; printf '  key: "%s",\n' "$(cat leak.txt)"; echo '}') > settings.js`,
			Breached: func(s Scene) string {
				if strings.Contains(s.Landed[s.Own("settings.js")].Content, Key) {
					return "the key is in the landed tree"
				}
				return ""
			},
		},
		{
			ID: "S05", Group: Secrets, Title: "read files of the user's that git does not know", Breached: got, Quick: true,
			Host: func(_ context.Context, h *Host) error {
				for _, name := range []string{
					filepath.Join(h.Repo, "ignored", ".env"), filepath.Join(h.Repo, ".git", "stray"), filepath.Join(h.Home, ".ssh", "id_ed25519"),
					filepath.Join(h.Home, ".netrc"), filepath.Join(h.Home, ".docker", "config.json"),
				} {
					if err := h.Write(name, strayMark+"\n", 0o600); err != nil {
						return err
					}
				}
				return nil
			},
			Script: `grep -rls '` + strayMark + `' $ROOT/ignored $ROOT/.git $HOME /root /home /mnt /tmp 2>/dev/null | sed 's/^/GOT /'; echo TRIED`,
		},
		{
			ID: "S06", Group: Secrets, Title: "read commits that are not the base", Breached: got,
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
			ID: "S08", Group: Secrets, Title: "be read by other users of the machine, from the state directory", Shares: true,
			Naive:    Naive{Skip: "the naive counterpart keeps no state"},
			Script:   "echo something to keep",
			Breached: stateOpen,
		},
		// What no list names.
		{
			ID: "S09", Group: Secrets, Title: "inherit what the user's shell holds", Breached: got,
			Host: func(_ context.Context, h *Host) error {
				for _, name := range strayVariables {
					h.Env = append(h.Env, name+"="+strayMark)
				}
				return nil
			},
			Script: `env | grep ` + strayMark + ` | cut -d= -f1 | sed 's/^/GOT /'
cat /proc/1/environ 2>/dev/null | tr '\0' '\n' | grep ` + strayMark + ` | cut -d= -f1 | sed 's/^/GOT by way of the first process /'; echo TRIED`,
			Naive: Naive{Flags: strayFlags()},
		},
		{
			ID: "S10", Group: Secrets, Title: "read the token in a remote's address", Breached: got,
			Host: func(ctx context.Context, h *Host) error {
				_, err := git(ctx, h.Repo, "config", "remote.origin.url", "https://user:"+strayMark+"@git.test/x")
				return err
			},
			Script: `(cat $ROOT/.git/config; git -C $ROOT config -l) 2>/dev/null | grep ` + strayMark + ` | head -1 | sed 's/^/GOT /'; echo TRIED`,
		},
		{
			ID: "S11", Group: Secrets, Title: "find secrets in what the runner leaves in readable places", Shares: true,
			Naive:    Naive{Skip: "the naive counterpart keeps no state"},
			Script:   "echo something to keep",
			Breached: keyKept,
		},
		{
			ID: "S12", Group: Secrets, Title: "pass on a token that the task lends to the box",
			Task: func(task map[string]any) {
				task["box"] = map[string]any{"env": map[string]any{"LENT_TOKEN": lentToken}}
			},
			Naive:  Naive{Flags: []string{"-e", "LENT_TOKEN=" + lentToken}},
			Script: `echo "$LENT_TOKEN" | tee config.txt | rev; echo "printed: $LENT_TOKEN"`,
			Breached: func(s Scene) string {
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

// lentToken is like no rule's idea of a secret.
const lentToken = "lent-for-the-box-0123456789"

// strayVariables are what shells of developers hold.
var strayVariables = []string{"AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "NPM_TOKEN", "OPENAI_API_KEY", "SSH_AUTH_SOCK", "KUBECONFIG", "PGPASSWORD"}

func strayFlags() []string {
	var flags []string
	for _, name := range strayVariables {
		flags = append(flags, "-e", name+"="+strayMark)
	}
	return flags
}

// makeFuture gives the repository what an attacker would like to see: the answer on another branch, in a commit that nobody
// names any more, and in a stash.
func makeFuture(ctx context.Context, h *Host) error {
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
		if _, err := git(ctx, h.Repo, step.git...); err != nil {
			return err
		}
	}
	return nil
}

// keyShown says where the key is to be seen, as it is or encoded.
func keyShown(s Scene) string {
	encoded := base64.StdEncoding.EncodeToString([]byte(Key))
	for where, text := range map[string]string{"the result": string(s.Stdout), "the messages": string(s.Stderr), "the log": s.Output} {
		if strings.Contains(text, Key) {
			return "the key is in " + where
		}
		if strings.Contains(text, encoded[:40]) {
			return "the key is in " + where + ", in base 64"
		}
	}
	return ""
}

// stateOpen says who else may look into the state directory.
func stateOpen(s Scene) string {
	st, err := os.Stat(s.Host.State)
	if err != nil {
		return err.Error()
	}
	if st.Mode().Perm()&0o077 != 0 {
		return fmt.Sprintf("%s has mode %04o", s.Host.State, st.Mode().Perm())
	}
	return ""
}

// keyKept says which file of the state directory holds the key; the bases are the user's own files.
func keyKept(s Scene) string {
	var found string
	err := filepath.WalkDir(s.Host.State, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := readCapped(p)
		if strings.Contains(text, Key) && !strings.Contains(p, string(filepath.Separator)+"bases"+string(filepath.Separator)) {
			found = "the key is in " + strings.TrimPrefix(p, s.Host.State)
		}
		return err
	})
	if err != nil {
		return err.Error()
	}
	return found
}
