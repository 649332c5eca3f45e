package main

import (
	"os"
	"syscall"
)

// rusage is the peak resident memory of an ended process in KiB.
func rusage(s *os.ProcessState) (int64, bool) {
	if s == nil {
		return 0, false
	}
	ru, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0, false
	}
	return ru.Maxrss, true
}
