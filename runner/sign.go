package runner

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"sandboxrun/runner/attest"
	"sandboxrun/runner/document"
	"sandboxrun/runner/journal"
	"sandboxrun/runner/record"
	"sandboxrun/runner/state"
)

// maxSigning bounds the time in which a result is signed: the patch of a large change is read once.
const maxSigning = 30 * time.Second

// signer signs the result of a run with the key of the state directory, also when the run was interrupted.
func (r *Runner) signer(ctx context.Context, dir *state.RunDir) state.Signer {
	return func(res *document.Result, stored []byte) ([]byte, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxSigning)
		defer cancel()
		key, err := attest.Key(r.o.State.KeyDir())
		if err != nil {
			return nil, err
		}
		return attest.Sign(ctx, key, r.o.Version, res, attest.Files{Result: stored, Plan: dir.PlanPath(), Patch: dir.PatchPath()})
	}
}

// finish writes the last event of a run, and its result with the journal's end, signed.
func (r *Runner) finish(ctx context.Context, rec *record.Record, res *document.Result) error {
	rec.Log.Emit("settle", journal.RunEnded{Status: res.Status, Summary: res.Summary})
	res.Journal = rec.Log.Head()
	return rec.Dir.Finish(res, rec.Close, r.signer(ctx, rec.Dir))
}

// unstored is the issue of a result that is not stored, or not signed.
func (x *run) unstored(err error) document.Issue {
	text := x.record.Secrets.String(err.Error())
	if unsigned := (*state.UnsignedError)(nil); errors.As(err, &unsigned) {
		return issue(document.CodeJournalLost, "the result could not be signed: "+text).
			withAction("\"sandboxrun runs verify\" has nothing to compare this run with; look at " + filepath.Base(x.r.o.State.KeyDir()) + " in the state directory").Issue
	}
	return issue(document.CodeJournalLost, "the result could not be stored: "+text).
		withAction("keep this document; free space in the state directory").Issue
}
