package check

import (
	"context"
	"fmt"
)

func init() {
	register(Kind{
		Name: "max_lines_changed", Help: "At most that many lines are added and deleted, both together.", Params: []Param{maxParam},
	}, func(v values) Check { return maxLinesChanged(v.integer(maxParam.Name)) })
}

// maxLinesChanged bounds additions plus deletions. Binary files have no lines:
// with one among the changes, a number within the bound proves nothing.
type maxLinesChanged int64

func (c maxLinesChanged) Check(_ context.Context, e Evidence) (Verdict, error) {
	var lines int64
	var binary []string
	for _, ch := range e.Changes {
		lines += int64(ch.Additions) + int64(ch.Deletions)
		if ch.Binary {
			binary = append(binary, ch.Name)
		}
	}
	v := atMost(lines, int64(c), "lines")
	if v.Verdict == Pass && len(binary) > 0 {
		return clipped(Unverifiable, fmt.Sprintf("%d lines of text changed, but binary files have no lines to count", lines), binary), nil
	}
	return v, nil
}
