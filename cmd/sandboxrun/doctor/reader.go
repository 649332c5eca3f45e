package doctor

import (
	"context"

	"sandboxrun/internal/confine"
)

// referVersion is the first version of Landlock that can let the process that reads move a new object within the store.
const referVersion = 2

// checkReader says how tightly the process that reads what a box left is confined on this kernel.
func checkReader(context.Context, *Examination) Finding {
	return readerFinding(confine.LandlockVersion())
}

func readerFinding(landlock int) Finding {
	const rest = "limits, capabilities and system calls hold"
	switch {
	case landlock == 0:
		return Caution("use a kernel with Landlock (5.19 or newer), and have its parameter lsm= name landlock",
			"no Landlock: the process that reads what a box left could open any file of this user; "+rest)
	case landlock < referVersion:
		return Caution("use Linux 5.19 or newer",
			"Landlock %d is too old: the process that reads what a box left could open any file of this user; "+rest, landlock)
	}
	return Pass("Landlock %d: what a box left is read by a process that opens nothing else", landlock)
}
