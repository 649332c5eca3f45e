package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
)

// gauge is the size of this process, which contains a runner all the time.
type gauge struct {
	rss        int64 // bytes resident
	heap       uint64
	files      int
	goroutines int
}

// measure measures this process after freeing all unused memory.
func measure() gauge {
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return gauge{rss: resident(), heap: m.HeapAlloc, files: openFiles(), goroutines: runtime.NumGoroutine()}
}

// resident is the resident memory of this process in bytes; proc(5).
func resident() int64 {
	var size, pages int64
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return -1
	}
	if _, err := fmt.Fscan(strings.NewReader(string(data)), &size, &pages); err != nil {
		return -1
	}
	return pages * int64(os.Getpagesize())
}

// openFiles is how many descriptors this process has.
func openFiles() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return -1
	}
	return len(entries) - 1 // without the one that reads the list
}

// over returns the growth since an earlier measurement.
func (g gauge) over(earlier gauge) (rss, files, goroutines float64) {
	return ratio(g.rss, earlier.rss), ratio(int64(g.files), int64(earlier.files)), ratio(int64(g.goroutines), int64(earlier.goroutines))
}

func ratio(a, b int64) float64 {
	if b <= 0 {
		return 0
	}
	return float64(a) / float64(b)
}
