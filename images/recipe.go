package images

import (
	"archive/tar"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// The comment lines of the recipe that the agents' lines replace.
const (
	stagesMark = "# @agent-stages@\n"
	copiesMark = "# @agent-copies@\n"
)

// Dockerfile returns the recipe with a stage and a copy per agent, in the order of their names. A copy stays cached
// while neither it nor an earlier one changes. The text is valid for the builder only if Check found no error.
func (b Build) Dockerfile() []byte {
	var stages, copies strings.Builder
	for _, a := range b.sorted() {
		stages.WriteString(a.stage())
		copies.WriteString(a.copyLine())
	}
	text := bytes.Replace(recipe, []byte(stagesMark), []byte(stages.String()), 1)
	if b.Own != "" {
		return b.onOwn(text)
	}
	return bytes.Replace(text, []byte(copiesMark), []byte(copies.String()), 1)
}

// sorted returns the agents by name.
func (b Build) sorted() []Agent {
	byName := func(x, y Agent) int { return cmp.Compare(x.Name, y.Name) }
	return slices.SortedStableFunc(slices.Values(b.Agents), byName)
}

// Context returns the build context, a tar stream with a Dockerfile at its root. The same Build gives the same bytes.
// It fails where Check fails.
func (b Build) Context() (io.Reader, error) {
	if err := b.Check(); err != nil {
		return nil, fmt.Errorf("write build context: %w", err)
	}
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for _, f := range []struct {
		name string
		data []byte
	}{{"Dockerfile", b.Dockerfile()}, {"ca.pem", b.CABundle}} {
		h := &tar.Header{Name: f.name, Mode: 0o644, Size: int64(len(f.data)), Typeflag: tar.TypeReg}
		if err := w.WriteHeader(h); err != nil {
			return nil, fmt.Errorf("write build context: %w", err)
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, fmt.Errorf("write build context: %w", err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("write build context: %w", err)
	}
	return &buf, nil
}

// Digest identifies the inputs of the image: the recipe with its agents, the base image, the CA bundle and the
// arguments the recipe declares. Proxy arguments do not change it. It is lower-case hexadecimal.
func (b Build) Digest() string {
	h := sha256.New()
	field := func(name string, value []byte) {
		// The length separates neighbouring fields.
		fmt.Fprintf(h, "%s %d\n", name, len(value))
		h.Write(value)
	}
	field("dockerfile", b.Dockerfile())
	field("base", []byte(b.BaseID))
	if b.Own != "" {
		field("own", []byte(b.Own))
	}
	field("ca", b.CABundle)
	declared := declaredArgs()
	for _, name := range slices.Sorted(maps.Keys(b.Args)) {
		if _, ok := declared[name]; ok {
			field(name, []byte(b.Args[name]))
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}
