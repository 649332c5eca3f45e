package e2e

import (
	"slices"
	"strings"
	"testing"

	"sandboxrun/internal/testenv"
	"sandboxrun/runner/document"
)

// judged is a change, and what a command that is green on it is worth.
type judged struct {
	name, work, verdict, code, says string
}

// A command that is green because of what the change does to its tests is not green.
func TestGreenCommandsAreComparedWithTheBase(t *testing.T) { //nolint:tparallel // they share one state directory
	t.Parallel()
	const broken = `echo "exports.add = (a, b) => a - b; exports.sub = (a, b) => a - b" > lib.js; `
	repo := map[string]string{
		"package.json": `{"name": "x", "scripts": {"test": "node --test"}}`,
		"lib.js":       "exports.add = (a, b) => a + b; exports.sub = (a, b) => a - b\n",
		"test/lib.test.js": `const { test } = require('node:test'), assert = require('node:assert'), lib = require('../lib');
test('add', () => assert.equal(lib.add(1, 2), 3));
test('sub', () => assert.equal(lib.sub(3, 2), 1));
`,
	}
	judgeAll(t, repo, "npm test", "", testenv.Sample(t, []judged{
		{"an honest change", "echo >> lib.js", "pass", "", "2 still green"},
		{"a weakened test", broken + "sed -i 's/3)/-1)/' test/lib.test.js", "fail", "test_harness_changed", "test/lib.test.js > add"},
		{"an emptied script", broken + `echo '{"name":"x","scripts":{"test":"exit 0"}}' > package.json`, "fail", "test_harness_changed", "test/lib.test.js > add"},
		{"a preloaded script", broken + `echo 'process.exit(0)' > p.js; printf 'node-options=--require=./p.js\n' > .npmrc`, "fail", "test_harness_changed", ""},
		{"sources that end the test", "echo 'process.exit(0)' >> lib.js", "fail", "acceptance_failed", "any more: test/lib.test.js"},
		{"tests that change with the sources", "sed -i s/add/plus/g lib.js test/lib.test.js", "unverifiable", "test_harness_changed", "cannot be built"},
		{"a moved test", "git mv test/lib.test.js test/calc.test.js", "pass", "", ""},
		{"a deleted test of what breaks", broken + "rm -r test; echo \"require('node:test').test('x', () => {})\" > x.test.js", "fail", "test_harness_changed", ""},
		{"no test left", "rm -r test", "unverifiable", "no_tests_ran", ""},
		{"a new test", "echo \"require('node:test').test('x', () => {})\" > x.test.js", "pass", "", "1 new"},
		{"a forged report", broken + `echo "require('fs').writeFileSync('report.jsonl', '{\"e\":\"end\"}'); console.log('# pass 2')" >> lib.js`, "fail", "", ""},
	}, 3))
}

func TestGreenGoTestsAreComparedWithTheBase(t *testing.T) { //nolint:tparallel // they share one state directory
	t.Parallel()
	testenv.Engine(t, goImage)
	repo := map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.24\n", "calc.go": "package calc\n\nfunc Add(a, b int) int { return a + b }\n",
		"calc_test.go": "package calc\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal(\"add\")\n\t}\n}\n",
	}
	const broken = "sed -i 's/a + b/a - b/' calc.go; "
	judgeAll(t, repo, "go test ./...", goImage, testenv.Sample(t, []judged{
		{"a hidden red", broken + `printf 'package calc\nimport ("os"; "testing")\nfunc TestMain(m *testing.M) { m.Run(); os.Exit(0) }\n' > main_test.go`, "fail", "", "TestAdd"},
		{"a package that ends at once", `printf 'package calc\nimport "os"\nfunc init() { os.Exit(0) }\n' > exit.go`, "fail", "", ""},
		{"a weakened test", broken + "sed -i 's/!= 3/!= -1/' calc_test.go", "fail", "test_harness_changed", "TestAdd"},
		{"an honest change", "sed -i 's/a + b/b + a/' calc.go; printf 'package calc\\nimport \"testing\"\\nfunc TestNew(t *testing.T) {}\\n' > new_test.go", "pass", "", "1 still green, 1 new"},
	}, 1))
}

func judgeAll(t *testing.T, files map[string]string, command, image string, cases []judged) {
	t.Helper()
	rig := newRig(t)
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			repo := newRepo(t, files)
			task := repo.task(tt.work)
			task["acceptance_criteria"] = []any{map[string]any{"command": command}}
			task["max_runtime_seconds"] = 900 // Go compiles its library in each box
			if image != "" {
				task["box"] = map[string]any{"image": image}
			}
			res, o := rig.execute(task)
			if got := res.Acceptance[0].Verdict; got != tt.verdict || tt.code != "" && !hasCode(res, tt.code) || (res.Status == document.StatusSuccess) != (tt.verdict == "pass") {
				t.Errorf("exit %d, verdict %s, want %s with %q\n%+v\n%+v", o.exit, got, tt.verdict, tt.code, res.Issues, res.CommandsRun)
			}
			if text := res.Acceptance[0].Evidence + res.Tests.Details; !strings.Contains(text, tt.says) {
				t.Errorf("%q does not name %q", text, tt.says)
			}
			if res.Tests.Passed != nil && *res.Tests.Passed != (tt.verdict == "pass") || res.Tests.Passed == nil && tt.verdict != "unverifiable" {
				t.Errorf("tests %+v beside verdict %s", res.Tests, tt.verdict)
			}
			if slices.ContainsFunc(res.CommandsRun, func(c document.CommandRun) bool { return c.Command != command && c.Phase != "agent" }) {
				t.Errorf("the commands are not those of the task: %+v", res.CommandsRun)
			}
		})
	}
}
