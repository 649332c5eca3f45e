package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/urfave/cli/v2"

	"sandboxrun/sandbox/egress"
)

// guestName is the hidden command that a box's main process runs.
const guestName = "guest"

// guestCommand is the main process of every box: the inner end of the tunnel.
func (p *program) guestCommand() *cli.Command {
	return &cli.Command{
		Name:   guestName,
		Usage:  "main process of a box (started by sandboxrun itself)",
		Hidden: true,
		Action: func(c *cli.Context) error {
			pipe, err := standardPipe()
			if err != nil {
				return fmt.Errorf("open tunnel: %w", err)
			}
			return egress.Guest(c.Context, pipe, egress.GuestConfig{})
		},
	}
}

// stdio is the process's standard input and output as one stream.
type stdio struct {
	io.Reader
	io.Writer
	close func() error
}

func (s stdio) Close() error { return s.close() }

// standardPipe opens standard input and output so that closing them ends a Read
// under way: the runtime poller does that for descriptors that do not block,
// and only looks at the mode when a file is made from them.
func standardPipe() (io.ReadWriteCloser, error) {
	var files [2]*os.File
	for fd, name := range []string{"stdin", "stdout"} {
		if err := syscall.SetNonblock(fd, true); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		files[fd] = os.NewFile(uintptr(fd), name)
	}
	return stdio{files[0], files[1], func() error {
		return errors.Join(files[0].Close(), files[1].Close())
	}}, nil
}
