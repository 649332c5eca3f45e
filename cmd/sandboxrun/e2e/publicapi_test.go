package e2e

import (
	"strings"
	"testing"

	"sandboxrun/internal/testenv"
)

// The Go API of both trees is found in boxes by this program itself, whatever the image holds, with and without commands to verify.
func TestThePublicAPIOfGoIsJudged(t *testing.T) { //nolint:tparallel // they share one state directory
	t.Parallel()
	rig := newRig(t)
	files := map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.24\n", "lib.go": "package m\n\nimport \"io\"\n\nfunc Copy(dst, src string) {}\n\ntype T struct{ R io.Reader }\n\nvar V = map[string]int{}\n",
	}
	for _, tt := range testenv.Sample(t, []judged{
		{"swapped parameters", "sed -i 's/dst, src/src, dst/' lib.go", "fail", "constraint_violated", "example.com/m.Copy"},
		{"a body", "sed -i 's/string) {}/string) { _ = dst }/' lib.go", "pass", "", "4 names"},
		{"an inferred type", "sed -i 's/map.string.int/map[string]bool/' lib.go", "fail", "constraint_violated", "example.com/m.V"},
		{"a source that does not parse", "echo 'func {' >> lib.go", "unverifiable", "constraint_unverifiable", "does not parse"},
		{"another language", "echo 'export const a = 1' > a.ts", "unverifiable", "constraint_unverifiable", "TypeScript"},
		{"a source that hangs nobody", "rm lib.go; mkfifo lib.go; echo > x; printf 'package m\\n' > other.go", "fail", "", ""},
	}, 2) {
		t.Run(tt.name, func(t *testing.T) {
			repo := newRepo(t, files)
			task := repo.task(tt.work)
			task["constraints"] = []any{map[string]any{"kind": "public_api"}}
			res, o := rig.execute(task)
			if v := res.Constraints[0]; v.Verdict != tt.verdict || tt.code != "" && !hasCode(res, tt.code) || !strings.Contains(v.Evidence, tt.says) {
				t.Errorf("exit %d: %+v\n%+v", o.exit, v, res.Issues)
			}
		})
	}
}
