package check

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/change"
	"sandboxrun/runner/harness"
)

func init() {
	register(Kind{
		Name:   "tests_untouched",
		Help:   "No test of the base is altered, moved or removed, nor what decides how tests run: fixtures, snapshots, thresholds, configuration of runners. New tests, and new dependencies or scripts in a manifest, are no violation.",
		Params: []Param{{Name: "except", Help: "Globs of paths that may change all the same.", Type: Globs, Min: 1, Max: 500}},
	}, func(v values) Check { return testsUntouched{v.globs("except")} })
}

// testsUntouched passes when the surface of the tests is as the base has it, but for what only adds to it.
type testsUntouched struct{ except globs }

// inSource are the marks of tests that stand in the source files of the tested code, by the extension of such files.
var inSource = map[string][][]byte{
	".rs":  {[]byte("#[test]"), []byte("#[cfg(test)]"), []byte("```")},
	".zig": {[]byte("test \"")},
	".d":   {[]byte("unittest")},
	".py":  {[]byte(">>> ")},
	".ts":  {[]byte("import.meta.vitest")}, ".js": {[]byte("import.meta.vitest")}, ".tsx": {[]byte("import.meta.vitest")},
	".ex": {[]byte("iex> ")},
}

func (c testsUntouched) Check(ctx context.Context, e Evidence) (Verdict, error) {
	s, err := harness.SurfaceOf(ctx, []string{"npm test", "make test", "make check"}, e.Changes, func(ctx context.Context, changed bool, name string) ([]byte, error) {
		if changed {
			return e.ReadFile(ctx, Captured, name)
		}
		return e.ReadFile(ctx, Base, name)
	})
	if err != nil {
		return Verdict{}, err
	}
	var touched, mixed []string
	for _, name := range s.Touched {
		if !c.except.permit(name) {
			touched = append(touched, name)
		}
	}
	if len(touched) > 0 {
		return clipped(Fail, "tests, or what decides how they run, changed", touched), nil
	}
	for i := range e.Changes {
		ch := &e.Changes[i]
		marks := inSource[path.Ext(ch.Name)]
		if ch.Type == change.Added || marks == nil || c.except.permit(ch.Name) {
			continue
		}
		content, err := e.ReadFile(ctx, Base, ch.Name)
		if _, other := errors.AsType[*gitdiff.NotFileError](err); other || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return Verdict{}, err
		}
		for _, m := range marks {
			if bytes.Contains(content, m) {
				mixed = append(mixed, ch.Name)
				break
			}
		}
	}
	if len(mixed) > 0 {
		return clipped(Unverifiable, "these sources hold tests of their own, and whether those changed is not measured; name them in except once they were read", mixed), nil
	}
	return Verdict{Verdict: Pass, Evidence: "no test of the base changed, nor what decides how tests run"}, nil
}
