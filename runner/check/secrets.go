package check

import (
	"context"
	"fmt"
)

func init() {
	register(Kind{
		Name: "secrets", Help: "The change adds nothing that is a secret of this host, or looks like one by the rules of gitleaks.",
	}, func(values) Check { return noSecrets{} })
}

// noSecrets judges what the search for secrets found. That search is made of every change: this kind makes its result a verdict.
type noSecrets struct{}

func (noSecrets) Check(_ context.Context, e Evidence) (Verdict, error) {
	switch {
	case e.Secrets == nil && len(e.Changes) == 0:
		return Verdict{Verdict: Pass, Evidence: "nothing changed"}, nil
	case e.Secrets == nil:
		return Verdict{Verdict: Unverifiable, Evidence: "the change was not searched for secrets"}, nil
	case len(e.Secrets.Paths) > 0 || e.Secrets.Further > 0:
		v := clipped(Fail, "secrets, or what looks like them", e.Secrets.Paths)
		if e.Secrets.Further > 0 {
			v.Evidence += fmt.Sprintf(", and %d further places", e.Secrets.Further)
		}
		return v, nil
	case e.Secrets.Incomplete != "":
		return Verdict{Verdict: Unverifiable, Evidence: "not all of the change was searched: " + clip(e.Secrets.Incomplete)}, nil
	}
	return Verdict{Verdict: Pass, Evidence: "the whole change was searched, and holds none"}, nil
}
