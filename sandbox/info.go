package sandbox

import (
	"errors"
	"slices"
)

// Info is what an engine reports about itself.
type Info struct {
	Name          string `json:"name"`    // e.g. "docker", "podman"
	Version       string `json:"version"` // server version
	APIVersion    string `json:"api_version"`
	Endpoint      string `json:"endpoint"`
	OS            string `json:"os"`
	Arch          string `json:"arch"`
	Kernel        string `json:"kernel"`
	CgroupVersion string `json:"cgroup_version"`
	StorageDriver string `json:"storage_driver"`
	RootDir       string `json:"root_dir"`
	// RemappedRoot is the host user that root of a box maps to; zero for an engine that does not remap users or does
	// not report the mapping.
	RemappedRoot User        `json:"remapped_root"`
	Runtimes     []string    `json:"runtimes"`
	DefaultRun   string      `json:"default_runtime"`
	Components   []Component `json:"components"`
	// Security lists the engine's security options, e.g. "seccomp", "rootless".
	Security                                    []string `json:"security"`
	MemoryLimit, SwapLimit, PIDsLimit, CPULimit bool
	// LiveRestore says that boxes outlive a restart of the engine.
	LiveRestore bool `json:"live_restore"`
}

// Component is a program the engine consists of, e.g. runc.
type Component struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// ImageInfo describes a local image.
type ImageInfo struct {
	ID      string            `json:"id"`     // sha256:…
	Digest  string            `json:"digest"` // repository digest, "" for images never pulled or pushed
	Tags    []string          `json:"tags"`
	Labels  map[string]string `json:"labels"`
	Bytes   int64             `json:"bytes"`
	Created string            `json:"created"` // RFC 3339
}

// Details is an optional interface of a Sandbox: the box as the engine made it.
type Details interface {
	Details() BoxDetails
}

// BoxDetails is recorded in results.
type BoxDetails struct {
	ID          string `json:"id"`
	Runtime     string `json:"runtime"`
	ImageID     string `json:"image_id"`
	ImageDigest string `json:"image_digest"`
	// OutputBytes counts what all execs wrote so far, up to the limit.
	OutputBytes int64 `json:"output_bytes"`
	// SeccompSHA256 is the hash of the box's system call filter.
	SeccompSHA256 string `json:"seccomp_sha256"`
}

// OnMachine returns the user of the engine's machine that the user u of a box maps to. That user must own the box's
// tree; it differs from u where the engine remaps users. The error is an [*UnavailableError] where the engine does not
// report the mapping, or is rootless: then no process outside its namespace can give files away.
func (i Info) OnMachine(u User) (User, error) {
	var err error
	switch {
	case slices.Contains(i.Security, "rootless"):
		err = errors.New("the engine is rootless: only processes in its own namespace can give files to the users of its boxes")
	case !slices.Contains(i.Security, "userns"):
		return u, nil
	case i.RemappedRoot == User{}:
		err = errors.New("the engine remaps users and does not report the mapping")
	default:
		return User{UID: i.RemappedRoot.UID + u.UID, GID: i.RemappedRoot.GID + u.GID}, nil
	}
	return User{}, &UnavailableError{
		Op: "give trees to boxes", Err: err, Hint: "use an engine of root's; userns-remap is the tier that rootless is",
	}
}
