package runner

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/change"
	"sandboxrun/runner/config"
	"sandboxrun/runner/document"
	"sandboxrun/runner/excerpt"
	"sandboxrun/runner/plan"
)

// OverrideAll as one of the codes of [ApplyOptions.Override] overrides every refusal.
const OverrideAll = "all"

// refuseFindings records findings that keep a change from landing, one refusal for each code.
func (f *findings) refuseFindings(list []gitdiff.Finding) {
	byCode := map[gitdiff.Code][]gitdiff.Finding{}
	var codes []gitdiff.Code
	for _, one := range list {
		if byCode[one.Code] == nil {
			codes = append(codes, one.Code)
		}
		byCode[one.Code] = append(byCode[one.Code], one)
	}
	for _, code := range codes {
		first := byCode[code][0]
		f.refuse(document.Refusal{
			Code: string(code), Path: strings.ToValidUTF8(first.Path, "\ufffd"), Description: refusals(byCode[code]) + ": " + excerpt.Clip(first.Detail, 300),
		})
	}
}

// standing lists what speaks against applying the change of a run: what its result says, what the issues of a result without
// refusals say, and what the change itself shows when it is inspected anew, by today's configuration.
func (r *Runner) standing(ctx context.Context, res *document.Result, p *plan.Plan, diff *change.Diff) ([]document.Refusal, error) {
	list := slices.Clone(res.Git.Refused)
	known := func(code string) bool {
		return slices.ContainsFunc(list, func(r document.Refusal) bool { return r.Code == code })
	}
	for _, i := range res.Issues {
		switch {
		case slices.Contains(refusing, i.Code), i.Code == document.CodeLandRefused && len(res.Git.Refused) == 0:
			if !known(i.Code) {
				list = append(list, document.Refusal{Code: i.Code, Path: i.Path, Description: i.Description})
			}
		case i.Code == document.CodeRunnerLost:
			if judged, err := requirements(p, false); err != nil || len(judged) > 0 { // nor can it be judged now
				list = append(list, document.Refusal{Code: i.Code, Description: "the runner ended before the change was judged"})
			}
		}
	}
	land := r.o.Config.Land
	in, err := diff.Inspect(ctx, int64(cmp.Or(land.MaxFile, config.DefaultMaxFile)))
	if err != nil {
		return nil, fmt.Errorf("inspect change: %w", err)
	}
	anew := &findings{}
	anew.refuseFindings(slices.DeleteFunc(in.Findings, func(f gitdiff.Finding) bool { return gradeOf(land, f) != gitdiff.Refuse }))
	for _, r := range anew.refusals {
		if !known(r.Code) {
			list = append(list, r)
		}
	}
	return list, nil
}

// overridden reports whether the caller has named all of the refusals; otherwise the error names those that stand.
func overridden(run string, list []document.Refusal, codes []string) error {
	if slices.Contains(codes, OverrideAll) {
		return nil
	}
	e := &document.InputError{Message: fmt.Sprintf("run %s cannot be applied: its change is refused", run)}
	var open []string
	for _, r := range list {
		if slices.Contains(codes, r.Code) {
			continue
		}
		if len(e.Details) < document.MaxDetails {
			e.Details = append(e.Details, document.Detail{Message: r.Code + ": " + r.Description})
		}
		if !slices.Contains(open, r.Code) {
			open = append(open, r.Code)
		}
	}
	if open == nil {
		return nil
	}
	e.Hint = fmt.Sprintf("look at the change (\"sandboxrun runs diff %s\"); to apply it nevertheless: --refused %s", run, strings.Join(open, ","))
	return e
}
