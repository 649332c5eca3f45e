package prompt

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// maxAnswer bounds a typed line, in bytes. The kernel's own bound for a terminal line is 4096 (termios(3)).
const maxAnswer = 8 << 10

// bellAfter is how long a question waits before the terminal rings.
const bellAfter = 10 * time.Second

// lineInput reads lines of a terminal and can stop waiting, which a plain read of a terminal cannot.
type lineInput struct {
	tty         *os.File
	wakeR, wake *os.File
	rest        string // read beyond the last line
}

var errNoLine = errors.New("the terminal has no more lines")

func newLineInput(tty *os.File) (*lineInput, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &lineInput{tty: tty, wakeR: r, wake: w}, nil
}

func (l *lineInput) close() {
	for _, f := range []*os.File{l.tty, l.wakeR, l.wake} {
		_ = f.Close() // nothing is buffered in any of them
	}
}

// ask prints a prompt and returns the next line without its ending, or an error when ctx ends or the terminal does. It
// discards what was typed before: an answer is given after the question. It does so before it prints the prompt, because
// an answer may follow at once.
func (l *lineInput) ask(ctx context.Context, out io.Writer, prompt string) (string, error) {
	fd := int(l.tty.Fd())
	if err := unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH); err != nil {
		return "", err
	}
	l.rest = ""
	if _, err := io.WriteString(out, prompt); err != nil {
		return "", err
	}
	bell := time.AfterFunc(bellAfter, func() { _, _ = io.WriteString(out, "\a") }) // nobody is left to tell
	defer bell.Stop()
	stop := context.AfterFunc(ctx, func() { _, _ = l.wake.Write([]byte{0}) }) // a full pipe wakes as well
	defer stop()
	var buf [512]byte
	for {
		if line, rest, ok := strings.Cut(l.rest, "\n"); ok {
			l.rest = rest
			return strings.TrimSuffix(line, "\r"), nil
		}
		if len(l.rest) > maxAnswer {
			return "", errNoLine
		}
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}, {Fd: int32(l.wakeR.Fd()), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, -1); err != nil && !errors.Is(err, unix.EINTR) {
			return "", err
		}
		if fds[0].Revents == 0 {
			continue
		}
		n, err := l.tty.Read(buf[:])
		if n == 0 || err != nil {
			return "", errors.Join(errNoLine, err)
		}
		l.rest += string(buf[:n])
	}
}
