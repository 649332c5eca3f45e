package gitdiff_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/gitdiff/gitdifftest/workbench"
)

func TestUserIsWhomGitWouldTake(t *testing.T) {
	t.Parallel()
	b := workbench.New(t, map[string]string{"a": "1"})
	home := t.TempDir()
	env := map[string]string{"HOME": home, "GIT_CONFIG_NOSYSTEM": "1"}
	expect := func(what string, want gitdiff.Person) {
		t.Helper()
		gitdifftest.Equal(t, what, b.Repo.User(func(name string) string { return env[name] }), want)
	}
	write := func(path, text string) {
		t.Helper()
		gitdifftest.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		gitdifftest.Must(t, os.WriteFile(path, []byte(text), 0o600))
	}
	expect("nobody", gitdiff.Runner)
	write(filepath.Join(home, ".config", "git", "config"), "[user]\n\tname = Ann Other\n\temail = ann@example.org\n")
	expect("the configuration directory", gitdiff.Person{Name: "Ann Other", Email: "ann@example.org"})
	write(filepath.Join(home, ".gitconfig"), "[user]\n\tname = Ann\n")
	expect("both files", gitdiff.Person{Name: "Ann", Email: "ann@example.org"})
	gitdifftest.Git(t, b.Dir, nil, "config", "user.email", "ann@work.example")
	expect("the repository", gitdiff.Person{Name: "Ann", Email: "ann@work.example"})
	env["GIT_AUTHOR_NAME"], env["GIT_AUTHOR_EMAIL"] = "Env", "env@example.org"
	expect("the environment", gitdiff.Person{Name: "Env", Email: "env@example.org"})
	for _, name := range []string{"a\nparent x", "a <b@c>", "a\u202eb", " "} {
		env["GIT_AUTHOR_NAME"] = name
		expect("a name that is none", gitdiff.Runner)
	}
	// A pipe in the place of a file is not waited for.
	env["GIT_AUTHOR_NAME"] = ""
	gitdifftest.Must(t, os.Remove(filepath.Join(home, ".gitconfig")))
	gitdifftest.Must(t, syscall.Mkfifo(filepath.Join(home, ".gitconfig"), 0o600))
	expect("a pipe", gitdiff.Person{Name: "Ann Other", Email: "env@example.org"})
}

func TestParsePerson(t *testing.T) {
	t.Parallel()
	if p, ok := gitdiff.ParsePerson("  Ann B. <ann@example.org> "); !ok || p != (gitdiff.Person{Name: "Ann B.", Email: "ann@example.org"}) {
		t.Errorf("%+v, %v", p, ok)
	}
	for _, text := range []string{"", "Ann", "<a@b>", "Ann <>", "Ann <a b>", "Ann <a@b> x", "Ann <a@b>\n", "Ann\x00 <a@b>"} {
		if p, ok := gitdiff.ParsePerson(text); ok {
			t.Errorf("%q is %+v", text, p)
		}
	}
}
