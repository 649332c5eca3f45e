package goapi

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
)

// global are calls that change the form of lines which others write.
var global = regexp.MustCompile(`\.(SetFlags|SetPrefix|SetOutput|SetFormatter|SetReportCaller|SetDefault|SetLogLoggerLevel|SetLevel|ReplaceGlobals|AddHook)\(| = `)

// CompareLogs lists what became of the lines that programs log: calls that are gone or altered, and changes of what forms lines. doubts are
// changes that may alter lines, and may not. Calls that moved and calls that were added are neither.
func CompareLogs(was, now *Surface) (changed, doubts []string) {
	for _, call := range slices.Sorted(maps.Keys(was.Logs)) {
		if now.Logs[call] < was.Logs[call] {
			changed = append(changed, fmt.Sprintf("%q is gone or altered", brief(call)))
		}
	}
	for _, form := range slices.Sorted(maps.Keys(was.Forms)) {
		if now.Forms[form] < was.Forms[form] {
			changed = append(changed, fmt.Sprintf("%q, which decides the form of lines, is gone or altered", brief(form)))
		}
	}
	for _, form := range slices.Sorted(maps.Keys(now.Forms)) {
		switch added := now.Forms[form] > was.Forms[form]; {
		case added && global.MatchString(form):
			changed = append(changed, fmt.Sprintf("%q, which decides the form of lines, is new", brief(form)))
		case added:
			doubts = append(doubts, fmt.Sprintf("%q, which can decide the form of lines, is new", brief(form)))
		}
	}
	both := maps.Clone(was.Makers)
	if both == nil {
		both = map[string]string{}
	}
	maps.Copy(both, now.Makers)
	for _, name := range slices.Sorted(maps.Keys(both)) {
		if was.Makers[name] != now.Makers[name] {
			doubts = append(doubts, fmt.Sprintf("method %q, which takes part in forming lines, changed", brief(name)))
		}
	}
	return changed, doubts
}
