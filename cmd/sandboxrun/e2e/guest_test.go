package e2e

import "testing"

func TestMainProcessOfABoxReapsOrphansAndProtectsItsTunnel(t *testing.T) {
	t.Parallel()
	res, o := newRig(t).execute(newRepo(t, sample).task(
		// A zombie keeps its name.
		`(sleep 0.1 &); (sleep 0.2 &); sleep 0.5; for i in $(seq 100); do grep -qs '^Name:.sleep' /proc/[0-9]*/status || exit 0; sleep 0.1; done; exit 1`,
		"! (echo stray > /proc/1/fd/1)",
		"echo x > x"))
	if o.exit != 0 || len(res.FilesChanged) != 1 {
		t.Errorf("exit %d, commands %+v, issues %+v", o.exit, res.CommandsRun, res.Issues)
	}
}
