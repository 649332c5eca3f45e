package sandbox

import "sandboxrun/internal/step"

// Spec describes one box completely. Engines add hardening, never options: what has no field here cannot be requested
// by a task.
type Spec struct {
	// Owner is the id of the run the box belongs to; Role distinguishes the boxes of one run ("agent", "verify",
	// "verify.2", "verify.setup", "baseline"). Both become labels and parts of names.
	Owner, Role string
	// Image is the reference or id of a local image. Engines never pull.
	Image string
	// Runtime is the OCI runtime by its engine name, "" for the engine's default.
	Runtime string
	User    User
	Tree    Tree
	Binds   []Bind
	// Guest is the argv of the main process; Guest[0] is a path inside the box.
	// It must not end before its standard input does.
	Guest []string
	// GuestIsInit says that the guest reaps orphans itself and runs as process 1. Then the kernel discards signals
	// that other processes of the box send to it, and no separate init holds its standard streams where the box could
	// write to them. Otherwise the engine runs an init of its own above the guest.
	GuestIsInit bool
	// Env holds NAME=value pairs for the main process and for every Exec. No secret belongs here: every client of the
	// engine can read it.
	Env    []string
	Limits Limits
	// Journal records StepVolume and StepCreate, before the request to the engine and after the answer. Nil records
	// nothing.
	Journal step.Journal
}

// User is the numeric identity of every process in a box. Neither number may be 0. In the box it is called "agent",
// whatever the image calls it.
type User struct {
	UID int `json:"uid"`
	GID int `json:"gid"`
}

// Paths every box has, whatever its image.
const (
	WorkDir = "/workspace"  // the tree, and the directory commands start in
	Home    = "/home/agent" // a fresh tmpfs, owned by User
	TempDir = "/tmp"        // a fresh tmpfs
)

// Tree says how WorkDir is mounted: Dir alone is a bind mount of a plain directory; Lower, Upper and Work are an
// overlay that the engine mounts.
type Tree struct {
	Dir         string   `json:"dir,omitempty"`
	Lower       []string `json:"lower,omitempty"`
	Upper, Work string   `json:",omitempty"`
	// RenameDirs has the kernel mark the upper layer in attributes that only root can read (trusted.overlay), and lets the box rename
	// directories of Lower. Otherwise everybody can read the marks, and such a rename fails with EXDEV.
	RenameDirs bool `json:"rename_dirs,omitempty"`
	// ReadOnly mounts it so that no process of the box can change it.
	ReadOnly bool `json:"read_only,omitempty"`
}

// Bind is a read-only bind mount of a host file or directory.
type Bind struct{ Source, Target string }

// Limits are the hard limits of one box. Zero means the engine's DefaultLimits.
type Limits struct {
	MemoryBytes int64   `json:"memory_bytes"` // RAM and swap together, tmpfs included
	CPUs        float64 `json:"cpus"`         // cores
	PIDs        int64   `json:"pids"`         // processes and threads
	DiskBytes   int64   `json:"disk_bytes"`   // growth of the tree on disk
	DiskInodes  int64   `json:"disk_inodes"`  // files the tree may gain
	FreeBytes   int64   `json:"free_bytes"`   // the host's disk must keep this much free
	OutputBytes int64   `json:"output_bytes"` // standard output and error of all execs together
	TmpBytes    int64   `json:"tmp_bytes"`    // size of TempDir and of Home, each
	OpenFiles   int64   `json:"open_files"`   // per process
}

// DefaultLimits are the limits of a box whose Spec sets none.
func DefaultLimits() Limits {
	return Limits{
		MemoryBytes: 2 << 30,
		CPUs:        2,
		PIDs:        512,
		DiskBytes:   4 << 30,
		DiskInodes:  1_000_000,
		FreeBytes:   512 << 20,
		OutputBytes: 256 << 20,
		TmpBytes:    512 << 20,
		OpenFiles:   8192,
	}
}
