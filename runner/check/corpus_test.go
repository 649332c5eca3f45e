package check

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/change"
)

// repo is a small repository: contents by path.
type repo map[string]string

// with is the repository after a change; "-" removes a path, and "<path" renames another to it.
func (r repo) with(changes repo) repo {
	out := maps.Clone(r)
	for name, text := range changes {
		switch from, moved := strings.CutPrefix(text, "<"); {
		case text == "-":
			delete(out, name)
		case moved:
			out[name] = r[from]
			delete(out, from)
		default:
			out[name] = text
		}
	}
	return out
}

// evidenceOf compares two repositories as package change does, without objects.
func evidenceOf(was, now repo) Evidence {
	id := func(text string, ok bool) string {
		if !ok {
			return ""
		}
		sum := sha256.Sum256([]byte(text))
		return hex.EncodeToString(sum[:])
	}
	gone := map[string]string{}
	for name, text := range was {
		if _, still := now[name]; !still {
			gone[text] = name
		}
	}
	var e Evidence
	names := maps.Clone(was)
	maps.Copy(names, now)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		before, old := was[name]
		after, still := now[name]
		if old && still && before == after {
			continue
		}
		c := change.Change{Name: name, Path: name, Type: change.Modified, OldID: id(before, old), NewID: id(after, still), Binary: strings.Contains(after[:min(len(after), 8000)], "\x00")}
		switch {
		case !old:
			c.Type, c.OldName = change.Added, gone[after]
		case !still:
			c.Type = change.Deleted
		}
		e.Changes = append(e.Changes, c)
	}
	e.Files = &Files{func(_ context.Context, from Tree, name string) ([]byte, error) {
		tree := was
		if from == Captured {
			tree = now
		}
		if text, ok := tree[name]; ok {
			return []byte(text), nil
		}
		for path := range tree {
			if strings.HasPrefix(path, name+"/") {
				return nil, &gitdiff.NotFileError{What: "a directory"}
			}
		}
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}}
	return e
}

// verdictCase is one change, and what a careful reviewer says of it.
type verdictCase struct {
	name   string
	params string // of the constraint, without its kind
	change repo
	want   Outcome
	says   string // part of the evidence
}

func judgeCorpus(t *testing.T, kind string, base repo, cases []verdictCase) {
	t.Helper()
	for _, tt := range cases {
		t.Run(kind+" "+tt.name, func(t *testing.T) {
			t.Parallel()
			c, err := New(kind, json.RawMessage(`{"kind":"`+kind+`"`+tt.params+`}`))
			if err != nil {
				t.Fatal(err)
			}
			v, err := Judge(t.Context(), c, evidenceOf(base, base.with(tt.change)))
			if err != nil || v.Verdict != tt.want || !strings.Contains(v.Evidence, tt.says) || v.Evidence == "" {
				t.Errorf("%+v, error %v, want %s with %q", v, err, tt.want, tt.says)
			}
		})
	}
}

func TestNewFilesAndBinaries(t *testing.T) {
	t.Parallel()
	base := repo{"a.txt": "a\n", "logo.png": "\x89PNG\r\n\x1a\n\x00\x00", "latin.txt": "caf\xe9\n"}
	judgeCorpus(t, "no_new_files", base, []verdictCase{
		{name: "edited", change: repo{"a.txt": "b\n"}, want: Pass},
		{name: "deleted", change: repo{"a.txt": "-"}, want: Pass},
		{name: "added", change: repo{"b.txt": "b\n"}, want: Fail, says: "b.txt"},
		{name: "renamed", change: repo{"b.txt": "<a.txt"}, want: Fail, says: "b.txt"},
		{name: "added where it may be", params: `,"except":["docs/**"]`, change: repo{"docs/b.txt": "b\n"}, want: Pass},
		{name: "added in another case", params: `,"except":["docs/**"]`, change: repo{"DOCS/b.txt": "b\n"}, want: Fail},
	})
	judgeCorpus(t, "no_binary", base, []verdictCase{
		{name: "text", change: repo{"a.txt": "bäh — 字\n", "empty": ""}, want: Pass},
		{name: "a zero byte", change: repo{"b": "x\x00y"}, want: Fail},
		{name: "a zero byte far behind", change: repo{"b": strings.Repeat("text\n", 4000) + "\x00"}, want: Fail},
		{name: "an image without one", change: repo{"b.txt": "GIF89a\x01\x01\x01"}, want: Fail},
		{name: "a document", change: repo{"b.txt": "%PDF-1.7\n"}, want: Fail},
		{name: "an archive", change: repo{"b": "\x1f\x8b\x08\x01"}, want: Fail},
		{name: "another encoding", change: repo{"b": "na\xefve\n"}, want: Unverifiable},
		{name: "wide characters", change: repo{"b": "\xff\xfea\x01b\x02"}, want: Unverifiable},
		{name: "a moved image", change: repo{"img/logo.png": "<logo.png"}, want: Pass},
		{name: "a copied image", change: repo{"img/logo.png": base["logo.png"] + "\x00"}, want: Fail},
		{name: "a deleted image", change: repo{"logo.png": "-"}, want: Pass},
		{name: "an image where it may be", params: `,"except":["*.png"]`, change: repo{"x.png": "\x89PNG\r\n\x1a\n\x00"}, want: Pass},
	})
}

func TestTestsUntouched(t *testing.T) {
	t.Parallel()
	base := repo{
		"package.json": `{"scripts":{"test":"node --test"},"jest":{"coverageThreshold":{"global":{"lines":90}}},"devDependencies":{"jest":"29.0.0"}}`,
		"src/a.js":     "a\n", "src/latest.js": "a\n", "src/contest/x.js": "x\n", "test/a.test.js": "t\n", "test/fixtures/in.json": "{}\n", "src/__snapshots__/a.snap": "s\n", "pkg/a_test.go": "t\n",
		"pkg/testdata/x": "x\n", "conftest.py": "c\n", "lib.rs": "fn a() {}\n#[cfg(test)]\nmod tests {}\n", "plain.rs": "fn b() {}\n", "doc.py": "def f():\n  \"\"\"\n  >>> f()\n  1\n  \"\"\"\n",
		"Makefile": "test:\n\tsh scripts/run.sh\n", "scripts/run.sh": "node --test\n", "scripts/deploy.sh": "x\n", "go.mod": "module m\n\ngo 1.24\n",
	}
	judgeCorpus(t, "tests_untouched", base, []verdictCase{
		{name: "sources", change: repo{"src/a.js": "b\n", "src/latest.js": "b\n", "src/contest/x.js": "b\n", "plain.rs": "fn c() {}\n"}, want: Pass},
		{name: "a new test", change: repo{"test/b.test.js": "t\n", "pkg/b_test.go": "t\n"}, want: Pass},
		{name: "a new dependency and another script", change: repo{"package.json": `{"scripts":{"test":"node --test","fmt":"x"},"jest":{"coverageThreshold":{"global":{"lines":90}}},"devDependencies":{"jest":"29.0.0","b":"1"}}`}, want: Pass},
		{name: "an edited test", change: repo{"test/a.test.js": "u\n"}, want: Fail, says: "test/a.test.js"},
		{name: "an edited Go test", change: repo{"pkg/a_test.go": "u\n"}, want: Fail},
		{name: "a deleted test", change: repo{"test/a.test.js": "-"}, want: Fail},
		{name: "a test that is none any more", change: repo{"test/a.js": "<test/a.test.js"}, want: Fail},
		{name: "a moved test", change: repo{"spec/a.test.js": "<test/a.test.js"}, want: Fail},
		{name: "a test that moves out", change: repo{"attic/a.js": "<test/a.test.js"}, want: Fail},
		{name: "a fixture", change: repo{"test/fixtures/in.json": "[]\n"}, want: Fail},
		{name: "a Go fixture", change: repo{"pkg/testdata/x": "y\n"}, want: Fail},
		{name: "a snapshot", change: repo{"src/__snapshots__/a.snap": "u\n"}, want: Fail},
		{name: "a threshold", change: repo{"package.json": strings.Replace(base["package.json"], "90", "10", 1)}, want: Fail},
		{name: "the script", change: repo{"package.json": strings.Replace(base["package.json"], "node --test", "true", 1)}, want: Fail},
		{name: "the version of the runner", change: repo{"package.json": strings.Replace(base["package.json"], "29.0.0", "1.0.0", 1)}, want: Fail},
		{name: "a new configuration", change: repo{"jest.config.js": "x\n"}, want: Fail},
		{name: "an edited one", change: repo{"conftest.py": "d\n"}, want: Fail},
		{name: "a shadowed runner", change: repo{"node_modules/jest/index.js": "x\n"}, want: Fail},
		{name: "a script of the makefile", change: repo{"scripts/run.sh": "true\n"}, want: Fail},
		{name: "another script", change: repo{"scripts/deploy.sh": "y\n"}, want: Pass},
		{name: "a replaced module", change: repo{"go.mod": "module m\n\ngo 1.24\n\nreplace x => ./x\n"}, want: Fail},
		{name: "a source with tests in it", change: repo{"lib.rs": "fn b() {}\n"}, want: Unverifiable, says: "lib.rs"},
		{name: "a source with examples that are tested", change: repo{"doc.py": "def f():\n  return 2\n"}, want: Unverifiable},
		{name: "what may change", params: `,"except":["test/fixtures/**"]`, change: repo{"test/fixtures/in.json": "[]\n"}, want: Pass},
	})
}
