package render

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// defaultPager is used where PAGER is not set. F: what fits the screen is only printed; R: colours; X: it stays there.
var defaultPager = []string{"less", "-FRX"}

// Page shows on a terminal what write writes, through the pager that PAGER names in the environment; less where it is
// not set. Without a terminal, with PAGER "cat" or without that program, write writes to w itself. A reader that
// leaves early is no error. The pager ends with ctx.
func Page(ctx context.Context, w io.Writer, term Terminal, getenv func(string) string, write func(io.Writer) error) error {
	argv := pagerOf(getenv)
	if !term.IsTTY || len(argv) == 0 {
		return quietly(write(w))
	}
	if _, err := exec.LookPath(argv[0]); err != nil {
		return quietly(write(w))
	}
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Stdout, c.Stderr = w, os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return errors.Join(in.Close(), quietly(write(w)))
	}
	err = quietly(write(in))
	if cerr := in.Close(); cerr != nil && !errors.Is(cerr, os.ErrClosed) {
		err = errors.Join(err, quietly(cerr))
	}
	// How the pager ends says nothing about what was shown.
	_ = c.Wait()
	return err
}

// pagerOf is the pager's command line: through a shell where the user wrote one, as with git.
func pagerOf(getenv func(string) string) []string {
	switch text := strings.TrimSpace(getenv("PAGER")); text {
	case "":
		return defaultPager
	case "cat":
		return nil
	default:
		if strings.ContainsAny(text, " \t\"'$|;&<>") {
			return []string{"sh", "-c", text}
		}
		return []string{text}
	}
}

// quietly takes the early end of a reader for no error.
func quietly(err error) error {
	if errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return err
}
