package check

import (
	"context"
	"encoding/json"
	"fmt"
)

func init() {
	register("max_lines_changed", "at most max lines added and deleted together", parseMaxLines)
}

// maxLinesChanged bounds additions plus deletions. Binary files have no lines:
// with one among the changes, a number within the bound proves nothing.
type maxLinesChanged int64

func parseMaxLines(params json.RawMessage) (Check, error) {
	n, err := decodeMax(params)
	if err != nil {
		return nil, err
	}
	return maxLinesChanged(n), nil
}

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
