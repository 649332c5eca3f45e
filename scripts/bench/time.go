package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"
)

// sample is the wall time and peak memory of one finished process.
type sample struct {
	wall time.Duration
	rss  int64 // KiB, of the process itself
}

// timed runs a command to its end and measures it from outside.
func timed(c *exec.Cmd) (sample, []byte, error) {
	c.Stderr = nil
	start := time.Now()
	out, err := c.Output()
	s := sample{wall: time.Since(start)}
	if ru, ok := rusage(c.ProcessState); ok {
		s.rss = ru
	}
	if err != nil {
		return s, out, fmt.Errorf("%v: %w", c.Args, err)
	}
	return s, out, nil
}

func median(samples []sample) time.Duration {
	w := make([]time.Duration, len(samples))
	for i, s := range samples {
		w[i] = s.wall
	}
	slices.Sort(w)
	return w[len(w)/2]
}

func peak(samples []sample) int64 {
	var m int64
	for _, s := range samples {
		m = max(m, s.rss)
	}
	return m
}

func hermetic() []string {
	return append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
}
