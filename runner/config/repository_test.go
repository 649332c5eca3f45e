package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sandboxrun/runner/document"
)

func TestTheNearestDirectoryDecidesForARepository(t *testing.T) {
	t.Parallel()
	c := Config{Repositories: map[string]Repository{"/home/me": {Image: "mine"}, "/home/me/shop/": {Image: "shop"}, "/": {Image: "all"}}}
	for root, want := range map[string]string{
		"/home/me": "mine", "/home/me/other": "mine", "/home/me/shop": "shop", "/home/me/shop/sub/": "shop", "/home/me/shopping": "mine", "/home/meg": "all", "/srv": "all",
	} {
		if got := c.RepositoryFor(root).Image; got != want {
			t.Errorf("%s: %q, want %q", root, got, want)
		}
	}
	if diff := cmp.Diff(Repository{}, (Config{}).RepositoryFor("/x")); diff != "" {
		t.Errorf("without any:\n%s", diff)
	}
}

func TestATaskSaysMoreThanItsRepository(t *testing.T) {
	t.Parallel()
	r := Repository{SetupCommands: []string{"npm ci"}, Checks: []string{"npm test"}}
	silent := &document.Task{}
	whole := r.Complete(silent)
	if len(whole.SetupCommands) != 1 || len(whole.AcceptanceCriteria) != 1 || whole.AcceptanceCriteria[0].Command != "npm test" || silent.AcceptanceCriteria != nil {
		t.Errorf("%+v, and the task became %+v", whole, silent)
	}
	own := r.Complete(&document.Task{SetupCommands: []string{}, AcceptanceCriteria: []document.Criterion{{Text: "it works"}}})
	if len(own.SetupCommands) != 0 || len(own.AcceptanceCriteria) != 1 || own.AcceptanceCriteria[0].Text != "it works" {
		t.Errorf("%+v", own)
	}
}

func TestRepositoriesAreChecked(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"repositories": {"/a": {"image": "x", "checks": ["make"], "allow": ["a.example"]}}}`: "",
		`{"repositories": {"relative": {}}}`:                                                   "relative",
		`{"repositories": {"/a": {"imgae": "x"}}}`:                                             "image",
		`{"repositories": {"/a": {"image": "A B"}}}`:                                           "/repositories/~1a",
		`{"repositories": {"/a": {"agent": "nobody"}}}`:                                        "/repositories/~1a/agent",
		`{"repositories": {"/a": {"checks": [""]}}}`:                                           "checks/0",
	} {
		_, err := Decode([]byte(text))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestTheEnvironmentGoesOverRepositories(t *testing.T) {
	t.Parallel()
	file := Config{Repositories: map[string]Repository{"/a": {Image: "x", Agent: "pi", Checks: []string{"make"}}}}
	env := map[string]string{EnvImage: "mine"}
	got, err := file.withEnvironment(func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	if r := got.RepositoryFor("/a"); r.Image != "" || r.Agent != "pi" || len(r.Checks) != 1 || file.Repositories["/a"].Image != "x" {
		t.Errorf("%+v", r)
	}
}
