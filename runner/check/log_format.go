package check

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"

	"sandboxrun/runner/goapi"
)

func init() {
	register(Kind{
		Name: "log_format",
		Help: "What programs log stays: each call with its logger, level, template, keys and arguments in order, and what decides the form of a line. Moved and added calls are no violation. Go is measured, in the default build; a change of sources in another language is unverifiable.",
	}, func(values) Check { return logFormat{} })
}

// logFormat compares the calls that log, which extractors found.
type logFormat struct{}

// logSettings are the names of files by which loggers are configured.
var logSettings = regexp.MustCompile(`(?i)^(log(ging|back|4j2?|4net|rus|r|uru)?([.-][a-z0-9.-]+)?\.(xml|conf|ini|json|ya?ml|toml|properties|config)|nlog\.config|serilog.*)$`)

func (logFormat) Check(_ context.Context, e Evidence) (Verdict, error) {
	var others, settings, sources []string
	goes := false
	for _, name := range names(e) {
		switch l := (publicAPI{}).language(name); {
		case l == "Go":
			goes, sources = true, append(sources, name)
		case l != "" && path.Base(name) != "package.json":
			others = append(others, name)
		case logSettings.MatchString(path.Base(name)):
			settings = append(settings, name)
		}
	}
	v := Verdict{Verdict: Pass, Evidence: "no source changed"}
	if goes {
		v = judgeGoLogs(e.GoAPI, sources)
	}
	switch {
	case v.Verdict == Fail:
	case len(settings) > 0:
		return clipped(Unverifiable, "settings of loggers changed, and what they mean is not measured", settings), nil
	case len(others) > 0:
		return clipped(Unverifiable, "what sources in "+(publicAPI{}).language(others[0])+" log is not measured by this version; compare it by a command", others), nil
	}
	return v, nil
}

func judgeGoLogs(api *GoAPI, sources []string) Verdict {
	if v, ok := api.usable(); !ok {
		return v
	}
	changed, doubts := goapi.CompareLogs(api.Base, api.Captured)
	if len(changed) > 0 {
		return Verdict{Verdict: Fail, Evidence: "what programs log changed: " + listed(changed)}
	}
	if len(doubts) > 0 {
		return Verdict{Verdict: Unverifiable, Evidence: "whether lines look as before is not measured: " + listed(doubts)}
	}
	for _, name := range sources {
		if slices.Contains(api.Base.Excluded, name) || slices.Contains(api.Captured.Excluded, name) {
			return clipped(Unverifiable, "only the default build is measured, which leaves this out", []string{name})
		}
	}
	n := 0
	for _, times := range api.Captured.Logs {
		n += times
	}
	return Verdict{Verdict: Pass, Evidence: fmt.Sprintf("the calls that log are as before (%d now)", n)}
}

// usable says whether both surfaces are known as a whole, and what to answer where they are not.
func (g *GoAPI) usable() (Verdict, bool) {
	if g == nil || g.Missing != "" {
		why := "the two trees were not read by an extractor"
		if g != nil {
			why += ": " + clip(g.Missing)
		}
		return Verdict{Verdict: Unverifiable, Evidence: why}, false
	}
	if p := slices.Concat(g.Captured.Problems, g.Base.Problems); len(p) > 0 {
		for i := range p {
			p[i] = clip(p[i])
		}
		return Verdict{Verdict: Unverifiable, Evidence: "not all Go sources are understood: " + listed(p)}, false
	}
	return Verdict{}, true
}
