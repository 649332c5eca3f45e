package check

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"unicode/utf8"

	"sandboxrun/gitdiff"
)

func init() {
	register(Kind{
		Name: "no_binary", Help: "No file gains content that is not text: bytes that no text has, or the form of an image, an archive or a program.",
		Params: []Param{{Name: "except", Help: "Globs of paths where such files may be.", Type: Globs, Min: 1, Max: 500}},
	}, func(v values) Check { return noBinary{v.globs("except")} })
}

// noBinary passes when all new content is text. Content that was there before, at this path or the one it was renamed from, is not new.
type noBinary struct{ except globs }

// maxSniffed bounds the contents that are looked at. The diff says of larger ones that they are binary or too large.
const maxSniffed = 8 << 20

func (c noBinary) Check(ctx context.Context, e Evidence) (Verdict, error) {
	before := map[string]bool{} // contents of the base that the change names
	for i := range e.Changes {
		if id := e.Changes[i].OldID; id != "" {
			before[id] = true
		}
	}
	var binary, unknown []string
	for i := range e.Changes {
		ch := &e.Changes[i]
		if ch.NewID == "" || before[ch.NewID] || c.except.permit(ch.Name) {
			continue
		}
		if ch.Binary && ch.Note == "" {
			binary = append(binary, ch.Name)
			continue
		}
		if ch.Note != "" {
			unknown = append(unknown, ch.Name)
			continue
		}
		content, err := e.ReadFile(ctx, Captured, ch.Name)
		if _, other := errors.AsType[*gitdiff.NotFileError](err); other { // a link or a submodule has no content of its own
			continue
		}
		if err != nil {
			return Verdict{}, err
		}
		switch textOf(content) {
		case noText:
			binary = append(binary, ch.Name)
		case maybeText:
			unknown = append(unknown, ch.Name)
		case isText:
		}
	}
	if len(binary) > 0 {
		return clipped(Fail, "new content that is not text", binary), nil
	}
	if len(unknown) > 0 {
		return clipped(Unverifiable, "too large to be read, or in an encoding that is not UTF-8; convert these files, or name them in except", unknown), nil
	}
	return Verdict{Verdict: Pass, Evidence: "all new content is text"}, nil
}

type textual int

const (
	isText textual = iota
	maybeText
	noText
)

// textOf says whether content is text. The form of a file (WHATWG MIME Sniffing) counts more than the bytes it happens to have.
func textOf(content []byte) textual {
	if len(content) == 0 {
		return isText
	}
	wide := bytes.HasPrefix(content, []byte("\xff\xfe")) || bytes.HasPrefix(content, []byte("\xfe\xff")) // UTF-16 begins so
	kind := http.DetectContentType(content)
	switch {
	case wide || len(content) > maxSniffed:
		return maybeText
	case bytes.IndexByte(content, 0) >= 0 || !strings.HasPrefix(kind, "text/") && kind != "application/octet-stream":
		return noText
	case !utf8.Valid(content):
		return maybeText
	case kind == "application/octet-stream": // control characters
		return maybeText
	}
	return isText
}
