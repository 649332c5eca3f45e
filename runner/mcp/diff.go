package mcp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"sandboxrun/runner/document"
)

// Patch is the open patch of a run. The caller closes it.
type Patch struct {
	io.ReadCloser

	Bytes int64 // of all of it
}

const (
	defaultDiff = 64 << 10
	maxDiff     = 1 << 20
	// maxPatch bounds how much of a patch is searched for a path, in bytes.
	maxPatch = 256 << 20
)

var diffSchema = object{
	"type": "object", "required": []string{"run_id", "diff", "bytes", "truncated"},
	"properties": object{
		"run_id": text("Id of the run."), "diff": text("Patch for git apply, empty where nothing changed. Bytes that are no UTF-8 are replaced."),
		"bytes": object{"type": "integer", "description": "Size of the whole patch of the run."}, "truncated": object{"type": "boolean", "description": "There is more than max_bytes."},
	},
}

type diffAnswer struct {
	RunID     string `json:"run_id"`
	Path      string `json:"path,omitempty"`
	Diff      string `json:"diff"`
	Bytes     int64  `json:"bytes"`
	Truncated bool   `json:"truncated"`
}

func (c *call) getDiff(ctx context.Context, arguments []byte) (answer, error) {
	var in struct {
		Run  string `json:"run_id"`
		Path string `json:"path"`
		Max  *int   `json:"max_bytes"`
	}
	if err := decode(arguments, &in); err != nil {
		return answer{}, err
	}
	limit := defaultDiff
	if in.Max != nil {
		limit = *in.Max
	}
	if limit < 1 || limit > maxDiff {
		return answer{}, document.InputAt("/max_bytes", fmt.Sprintf("must be from 1 to %d", maxDiff))
	}
	p, err := c.o.Runs.Diff(ctx, in.Run)
	if err != nil {
		return answer{}, err
	}
	defer p.Close()
	diff, more, err := part(ctx, io.LimitReader(p, maxPatch), in.Path, limit)
	if err != nil {
		return answer{}, fmt.Errorf("read patch: %w", err)
	}
	if in.Path != "" && diff == "" {
		return answer{}, document.InputAt("/path", "did not change in this run, or is written otherwise; files_changed of the result names every path")
	}
	return answer{value: diffAnswer{in.Run, in.Path, strings.ToValidUTF8(diff, "�"), p.Bytes, more}}, nil
}

// part reads at most limit bytes of a patch: whole lines, of all files or of those that have the path.
func part(ctx context.Context, r io.Reader, path string, limit int) (diff string, more bool, err error) {
	in := bufio.NewReaderSize(r, 64<<10)
	var out strings.Builder
	wanted, begin := path == "", true
	for lines := 0; ; lines++ {
		if lines%1024 == 0 && ctx.Err() != nil {
			return "", false, context.Cause(ctx)
		}
		line, err := in.ReadSlice('\n') // a long line comes in parts
		if begin && path != "" && strings.HasPrefix(string(line), "diff --git ") {
			wanted = names(strings.TrimRight(string(line), "\n"), path)
		}
		begin = err == nil
		if wanted && len(line) > 0 {
			if out.Len()+len(line) > limit {
				return out.String(), true, nil
			}
			out.Write(line)
		}
		if errors.Is(err, io.EOF) {
			return out.String(), false, nil
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return "", false, err
		}
	}
}

// names reports whether the first line about a file in a patch names a path, before or after. Content has a mark before
// each line, so that no file can forge this one.
func names(head, path string) bool {
	both := strings.TrimPrefix(head, "diff --git ")
	for _, p := range []string{path, quoted(path)} {
		before, after := "a/"+p, "b/"+p
		if p != path {
			before, after = `"a/`+p+`"`, `"b/`+p+`"`
		}
		if strings.HasPrefix(both, before+" ") || strings.HasSuffix(both, " "+after) {
			return true
		}
	}
	return false
}

// quoted writes a path as git does between quotes.
func quoted(path string) string {
	var b strings.Builder
	for _, c := range []byte(path) {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		case c == '\r':
			b.WriteString(`\r`)
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
