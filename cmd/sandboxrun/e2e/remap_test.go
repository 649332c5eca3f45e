package e2e

import (
	"fmt"
	"strings"
	"testing"

	"sandboxrun/runner/document"
)

// On an engine with userns-remap, root of a box has no rights on the machine, and the box's tree belongs to another
// user of the machine than the box's.
func TestAnEngineThatRemapsUsers(t *testing.T) { //nolint:tparallel // one engine for all
	t.Parallel()
	d := newRemappingDaemon(t)
	t.Cleanup(func() { d.t = t })
	work := []string{
		"cat /proc/self/uid_map; stat -c '%u:%g %n' . README.md .git",
		"echo more >> README.md; mkdir new; echo x > new/x; ln -s x new/link; chmod +x new/x; rm old.txt",
	}
	for _, layout := range []string{"overlay", "copy"} {
		t.Run(layout, func(t *testing.T) {
			d.t = t
			rig, repo := daemonRig(t, d), newRepo(t, sample)
			rig.env = append(rig.env, "SANDBOXRUN_LAYOUT="+layout)
			task := repo.task(work...)
			task["setup_commands"] = []string{"echo set up > built.txt"}
			task["acceptance_criteria"] = []any{map[string]any{"command": "test -x new/x && touch judged"}}
			res, o := rig.execute(task, "--require-tier", "userns")
			if o.exit != 0 || res.Status != document.StatusSuccess || res.Box.Tier != "userns" || res.Box.Layout != layout || !res.Box.Cleanup.Complete {
				t.Errorf("exit %d, %s %v, box %+v: %s", o.exit, res.Status, codes(res), res.Box, o.stderr)
			}
			seen := res.CommandsRun[1].StdoutExcerpt
			if fields := strings.Fields(seen); len(fields) < 9 || fields[1] != fmt.Sprint(d.base) || fields[3] != "10001:10001" || fields[5] != "10001:10001" || fields[7] != "10001:10001" {
				t.Errorf("the box saw %q", seen)
			}
		})
	}
	t.Run("matches its picture", func(t *testing.T) {
		d.t = t
		matchesPicture(t, daemonRig(t, d), "runc", true)
	})
	t.Run("refuses a runner that cannot give files away", func(t *testing.T) {
		d.t = t
		rig, repo := daemonRig(t, d), newRepo(t, sample)
		asNobodyWith(t, rig, repo, strings.TrimPrefix(d.host(), "unix://"))
		doc, exit := rig.refuse(marshal(t, repo.task("true")))
		if exit != document.ExitBridge || !strings.Contains(doc.Error.Message, "remaps users") || doc.Error.Hint == "" {
			t.Errorf("exit %d: %+v", exit, doc.Error)
		}
	})
}
