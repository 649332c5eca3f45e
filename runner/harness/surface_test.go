package harness

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sandboxrun/gitdiff/change"
)

func TestRolesFollowTheRulesOfRunners(t *testing.T) {
	t.Parallel()
	for role, names := range map[Role][]string{
		Test: {"a_test.go", "x/testdata/in.txt", "src/a.test.ts", "a.spec.jsx", "test.js", "test-a.mjs", "a-test.cjs", "test/helpers/x.js", "src/__tests__/a.js",
			"__snapshots__/a.snap", "tests/test_x.py", "pkg/test_x.py", "x_test.py", "spec/a_spec.rb", "src/test/java/AT.java", "src/FooTest.java", "a.bats", "run-tests.sh", "test.sh"},
		Config: {"package.json", "sub/package.json", "jest.config.ts", "vitest.config.mts", ".mocharc.json", ".eslintrc", "eslint.config.mjs", "tsconfig.json", "tsconfig.build.json",
			"go.mod", "vendor/x/y.go", "conftest.py", "tests/conftest.py", "pytest.ini", "pyproject.toml", "Makefile", "rules.mk", "node_modules/.bin/jest", "__mocks__/fs.js",
			"sitecustomize.py", "unittest.py", "pytest/__init__.py", ".husky/pre-commit", "Cargo.toml", ".env.test", "a.pth", ".npmrc", "requirements-dev.txt"},
		Product: {"main.go", "src/latest.js", "contest.py", "attestation/a.go", "protest.ts", "src/testing.go", "README.md", "lib/inspect.js", "package.json.md",
			"Makefile.md", "src/Manifest.java", "config.js", "scripts/deploy.sh", "src/vendor/a.js"},
	} {
		for _, name := range names {
			if got := RoleOf(name); got != role {
				t.Errorf("%s has role %d, want %d", name, got, role)
			}
		}
	}
}

func TestCommandsThatJudgeByFilesOfTheTree(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"npm test": true, "cd sub && npm test": true, "CI=1 timeout 60 go test ./...": true, `sh -c "npm test"`: true, "bash -ec 'make check'": true,
		"./gradlew test": true, "node --test": true, "node --test-reporter=tap --test": true, "node test/run.js": true, "sh scripts/check.sh": true, "python3 -m unittest": true,
		"python -m pytest -q": true, "true; ./run_tests.sh": true, "(npm run lint)": true, "npm\ttest || true": true, "if npm test; then true; fi": true,
		"grep -q jest package.json": false, "test -e Makefile": false, "node index.js": false, "node -e 'npm test'": false, "cat test.js": false, "echo npm test": false,
		"python3 app.py": false, "sh greet.sh": false, "true": false, "diff a b": false, "/usr/bin/env true": false, "": false,
	} {
		if got := Judges(text); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
	if Judges(strings.Repeat("x ", 1<<20) + "; npm test") {
		t.Error("no bound")
	}
}

// reader reads two trees that are maps.
func reader(base, changed map[string]string) Reader {
	return func(_ context.Context, now bool, name string) ([]byte, error) {
		tree := base
		if now {
			tree = changed
		}
		text, ok := tree[name]
		if !ok {
			return nil, errors.Join(fs.ErrNotExist)
		}
		return []byte(text), nil
	}
}

func TestSurfaceOfAChange(t *testing.T) {
	t.Parallel()
	added, modified, deleted := change.Added, change.Modified, change.Deleted
	const manifest = `{"scripts":{"test":"node --test && sh scripts/post.sh"},"dependencies":{"a":"1"}}`
	const module = "module m\n\ngo 1.24\n\nrequire a.example/a v1.0.0\n"
	for name, tt := range map[string]struct {
		commands []string
		changes  []change.Change
		base     map[string]string
		now      map[string]string
		touched  []string
		tests    []string
	}{
		"sources only":      {changes: []change.Change{{Name: "lib.js", Type: modified}}},
		"a new test":        {changes: []change.Change{{Name: "test/new.test.js", Type: added}}, tests: []string{"test/new.test.js"}},
		"a changed test":    {changes: []change.Change{{Name: "a.test.js", Type: modified}}, touched: []string{"a.test.js"}},
		"a deleted test":    {changes: []change.Change{{Name: "a_test.go", Type: deleted}}, touched: []string{"a_test.go"}},
		"a moved test":      {changes: []change.Change{{Name: "b_test.go", Type: added, OldName: "a_test.go"}, {Name: "a_test.go", Type: deleted}}, touched: []string{"b_test.go", "a_test.go"}},
		"new configuration": {changes: []change.Change{{Name: "conftest.py", Type: added}}, touched: []string{"conftest.py"}},
		"a shadow":          {changes: []change.Change{{Name: "node_modules/.bin/jest", Type: added}}, touched: []string{"node_modules/.bin/jest"}},
		"another script": {changes: []change.Change{{Name: "package.json", Type: modified}}, base: map[string]string{"package.json": manifest},
			now: map[string]string{"package.json": `{"version":"2", "scripts":{"test": "node --test && sh scripts/post.sh","fmt":"x"},"dependencies":{"a":"1","b":"2"}}`}},
		"a script around another": {changes: []change.Change{{Name: "package.json", Type: modified}}, base: map[string]string{"package.json": manifest},
			now: map[string]string{"package.json": `{"scripts":{"test":"node --test && sh scripts/post.sh","pretest":"x"},"dependencies":{"a":"1"}}`}, touched: []string{"package.json"}},
		"a changed script": {changes: []change.Change{{Name: "package.json", Type: modified}}, base: map[string]string{"package.json": manifest},
			now: map[string]string{"package.json": `{"scripts":{"test":"exit 0"},"dependencies":{"a":"1"}}`}, touched: []string{"package.json"}},
		"a script that the command names": {commands: []string{"npm run verify"}, changes: []change.Change{{Name: "package.json", Type: modified}}, base: map[string]string{"package.json": manifest},
			now: map[string]string{"package.json": `{"scripts":{"test":"node --test && sh scripts/post.sh","verify":"true"},"dependencies":{"a":"1"}}`}, touched: []string{"package.json"}},
		"configuration of a runner": {changes: []change.Change{{Name: "package.json", Type: modified}}, base: map[string]string{"package.json": manifest},
			now: map[string]string{"package.json": `{"scripts":{"test":"node --test && sh scripts/post.sh"},"dependencies":{"a":"1"},"jest":{}}`}, touched: []string{"package.json"}},
		"a manifest that is none": {changes: []change.Change{{Name: "package.json", Type: modified}}, base: map[string]string{"package.json": manifest},
			now: map[string]string{"package.json": `{{`}, touched: []string{"package.json"}},
		"another module":    {changes: []change.Change{{Name: "go.mod", Type: modified}, {Name: "go.sum", Type: modified}}, base: map[string]string{"go.mod": module}, now: map[string]string{"go.mod": module + "\nrequire b.example/b v1.0.0\n"}},
		"a replaced module": {changes: []change.Change{{Name: "go.mod", Type: modified}}, base: map[string]string{"go.mod": module}, now: map[string]string{"go.mod": module + "\nreplace a.example/a => ./a\n"}, touched: []string{"go.mod"}},
		"a script that a manifest runs": {commands: []string{"npm test"}, changes: []change.Change{{Name: "scripts/post.sh", Type: modified}, {Name: "scripts/other.sh", Type: modified}},
			base: map[string]string{"package.json": manifest}, touched: []string{"scripts/post.sh"}},
		"a script that a script runs": {commands: []string{"make"}, changes: []change.Change{{Name: "ci/check", Type: modified}}, base: map[string]string{"Makefile": "all:\n\t@sh go.sh\n", "go.sh": "sh ci/check\n"}, touched: []string{"ci/check"}},
		"a script that a test tests":  {commands: []string{"sh test.sh"}, changes: []change.Change{{Name: "sum.sh", Type: modified}}, base: map[string]string{"test.sh": "sh sum.sh 1 2\n"}},
		"a script of another target": {commands: []string{"make test"}, changes: []change.Change{{Name: "serve.sh", Type: modified}, {Name: "run.sh", Type: modified}},
			base: map[string]string{"Makefile": "test: deps\n\tsh run.sh\n\nserve:\n\tsh serve.sh\n"}, touched: []string{"run.sh"}},
		"a script of the command": {commands: []string{"sh check.sh", "sh greet.sh"}, changes: []change.Change{{Name: "check.sh", Type: modified}, {Name: "greet.sh", Type: modified}}, touched: []string{"check.sh"}},
	} {
		s, err := SurfaceOf(t.Context(), append(tt.commands, "npm test"), tt.changes, reader(tt.base, tt.now))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if d := cmp.Diff(Surface{Touched: tt.touched, NewTests: tt.tests}, s); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := SurfaceOf(ended, []string{"npm test"}, []change.Change{{Name: "a"}}, reader(nil, nil)); err == nil {
		t.Error("it goes on after its context has ended")
	}
}
