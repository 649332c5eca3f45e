package main

import (
	"os"
	"runtime/debug"
)

// memoryGoal is what the heap is kept below for as long as that only takes more
// collecting, in bytes. What is really in use may exceed it: a change of very
// many files is held as a list.
const memoryGoal = 128 << 20

// boundMemory sets the goal, unless the environment has one. Left to itself the
// heap grows to twice of what was ever in use at one time.
func boundMemory() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryGoal)
	}
}
