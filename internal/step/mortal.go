//go:build sandboxrun_mortal

package step

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
)

// Programs with this file exist in tests only. They write every side of every
// step they reach to the file named by traceEnv, and die by SIGKILL at the one
// named by deathEnv: "name side n", when they reach it for the nth time.
const (
	deathEnv = "SANDBOXRUN_TEST_DIE"
	traceEnv = "SANDBOXRUN_TEST_TRACE"
)

var passed atomic.Int64 // how often the deadly side was reached

func reached(n Name, s Side) {
	if !slices.Contains(All(), n) {
		panic(fmt.Sprintf("step %q is not in the list", n))
	}
	here := string(n) + " " + string(s)
	trace(here)
	name, times, _ := cutLast(os.Getenv(deathEnv))
	if name != here {
		return
	}
	if nth, err := strconv.ParseInt(times, 10, 64); err != nil || passed.Add(1) != nth {
		return
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // until it arrives
}

func trace(line string) {
	path := os.Getenv(traceEnv)
	if path == "" {
		return
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err == nil {
		_, err = f.WriteString(line + "\n")
	}
	if err != nil {
		panic(err)
	}
	f.Close()
}

func cutLast(s string) (before, after string, ok bool) {
	i := strings.LastIndexByte(s, ' ')
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}
