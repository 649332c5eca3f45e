package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"sandboxrun/runner/box"
	"sandboxrun/runner/check"
	"sandboxrun/runner/excerpt"
	"sandboxrun/runner/goapi"
	"sandboxrun/runner/measure"
	"sandboxrun/sandbox"
)

// extractBound is how long the extraction from one tree may take.
const extractBound = 2 * time.Minute

// needsGoAPI says that a constraint needs the Go API of both trees.
func (x *run) needsGoAPI() bool {
	if !x.change.any() {
		return false
	}
	for _, c := range x.plan.Checks() {
		if k, err := check.New(c.Kind, c.Params); err == nil && check.NeedsGoAPI(k, x.change.diff.Changes) {
			return true
		}
	}
	return false
}

// extractGoAPI has this program find in boxes what callers have of the Go packages of both trees. Source of strangers is parsed there
// only; nothing of the trees is run. Where it fails, that is known, and no reason to end the run.
func (x *run) extractGoAPI(ctx context.Context, b *measure.Bench) error {
	api := &check.GoAPI{}
	for _, one := range []struct {
		role, tree string
		to         **goapi.Surface
	}{{"extract.base", x.base.Tree, &api.Base}, {"extract", x.change.snapshot.Tree, &api.Captured}} {
		s, err := x.extractFrom(ctx, b, one.role, one.tree)
		var limit *sandbox.LimitError
		switch {
		case err == nil:
			*one.to = s
		case ctx.Err() == nil && (errors.Is(err, errExtract) || errors.As(err, &limit)):
			x.evidence.goAPI = &check.GoAPI{Missing: err.Error()}
			return nil
		default:
			return err
		}
	}
	x.evidence.goAPI = api
	return nil
}

// errExtract says that an extractor did not do its work.
var errExtract = errors.New("the extractor failed")

func (x *run) extractFrom(ctx context.Context, b *measure.Bench, role, tree string) (s *goapi.Surface, err error) {
	ws, err := b.Trees.Open(ctx, role, b.Under, tree)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.CloseTree(ws)) }()
	ectx, cancel := context.WithTimeoutCause(ctx, extractBound, fmt.Errorf("%w: it took longer than %s", errExtract, extractBound))
	defer cancel()
	bx, err := b.Boxes.Open(ctx, role, ws.Mount(), nil)
	if err != nil {
		return nil, err
	}
	var out, errs bytes.Buffer
	exit, runErr := bx.Sandbox.Exec(ectx, sandbox.Command{Argv: []string{box.GuestPath, goapi.Command}, Stdout: &excerpt.CutWriter{To: &out, Left: goapi.MaxBytes + 1},
		Stderr: &excerpt.CutWriter{To: &errs, Left: 4 << 10}})
	if err := errors.Join(runErr, bx.Discard(ctx)); err != nil {
		return nil, err
	}
	if exit.Code != 0 {
		return nil, fmt.Errorf("%w: exit %d: %s", errExtract, exit.Code, excerpt.Clip(excerpt.Printable(errs.String()), 300))
	}
	if s, err = goapi.Read(&out); err != nil {
		return nil, fmt.Errorf("%w: %w", errExtract, err)
	}
	return s, nil
}
