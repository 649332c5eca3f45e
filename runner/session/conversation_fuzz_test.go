package session

import (
	"context"
	"io"
	"slices"
	"testing"

	"sandboxrun/sandbox"
)

// saying is a box whose every command prints the same.
type saying struct{ out []byte }

func (s saying) Exec(_ context.Context, c sandbox.Command) (sandbox.Exit, error) {
	for p := s.out; len(p) > 0; {
		n := min(7, len(p))
		if _, err := c.Stdout.Write(p[:n]); err != nil {
			return sandbox.Exit{}, err
		}
		p = p[n:]
	}
	return sandbox.Exit{}, nil
}

func (saying) Stdio() io.ReadWriteCloser   { return nil }
func (saying) Close(context.Context) error { return nil }

// FuzzKeptPaths lets a box say anything about which files of a conversation it
// has: what is packed is among what the agent keeps, each once.
func FuzzKeptPaths(f *testing.F) {
	keep := []string{".claude/projects", ".claude.json", ".local/share/x y"}
	for _, s := range []string{"", ".claude.json\n", ".claude.json\n.claude.json\n../../etc\n/etc/passwd\n--checkpoint-action=exec=sh\n", ".local/share/x y", "\x00\n.claude/projects\r\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, said []byte) {
		paths, err := existing(t.Context(), saying{said}, keep)
		if (err != nil) != (len(said) > maxBoxMessage) {
			t.Errorf("%d bytes: %v", len(said), err)
		}
		if !slices.Equal(paths, slices.DeleteFunc(slices.Clone(keep), func(p string) bool { return !slices.Contains(paths, p) })) {
			t.Errorf("%q are not among %q in order", paths, keep)
		}
	})
}
