//go:build sandboxrun_mortal

package reader

import (
	"bytes"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// faultOf is the fault that this process passes on to its child. Programs with this file exist in tests only.
func faultOf(getenv func(string) string) string { return getenv(faultEnv) }

func fault(out io.Writer, here point) {
	what, at, _ := strings.Cut(os.Getenv(faultEnv), " ")
	if at != string(here) {
		return
	}
	switch what {
	case "kill":
		strike(unix.SIGKILL)
		select {}
	case "exit":
		os.Exit(0)
	case "panic":
		panic("on purpose")
	case "stop":
		strike(unix.SIGSTOP)
	case "hang":
		for {
			time.Sleep(time.Hour)
		}
	case "spin":
		for { //nolint:revive // it uses the processor
		}
	case "memory":
		for hoard := [][]byte{}; ; {
			hoard = append(hoard, bytes.Repeat([]byte{1}, 1<<20))
		}
	case "garbage":
		_, _ = io.Copy(out, io.LimitReader(rubbish{}, 1<<20))
	case "endless":
		_, _ = io.Copy(out, rubbish{})
	case "huge":
		_, _ = out.Write([]byte{byte(kindFound), 0xff, 0xff, 0xff, 0xff})
	case "repeat":
		for {
			_ = send(out, kindFound, []finding{{Code: "bidi_text", Path: []byte("x")}})
		}
	case "truncate":
		_, _ = out.Write([]byte{byte(kindFound), 0, 0, 0, 200, '['})
		os.Exit(0)
	}
}

// strike sends this process a signal in the one way that its filter of system calls permits.
func strike(sig unix.Signal) { _ = unix.Tgkill(os.Getpid(), unix.Gettid(), sig) }

type rubbish struct{}

func (rubbish) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(kindFound)
	}
	return len(p), nil
}
