package probe

import (
	"slices"
	"strings"

	"github.com/moby/sys/mountinfo"
)

// Mount is one mount of the box.
type Mount struct {
	At     string   `json:"at"`
	Type   string   `json:"type"`
	Source string   `json:"source"` // path of the mount's root in its file system
	Flags  []string `json:"flags"`  // of ro, rw, nosuid, nodev, noexec
	// Propagation is "private", or what the kernel reports instead.
	Propagation string `json:"propagation"`
}

// maxMounts bounds how many mounts are listed.
const maxMounts = 1000

// mounts lists the mounts this process sees, in their order.
func mounts() []Mount {
	found := []Mount{}
	table, err := mountinfo.GetMounts(nil)
	if err != nil {
		return found
	}
	for _, m := range table[:min(len(table), maxMounts)] {
		out := Mount{At: m.Mountpoint, Type: m.FSType, Source: m.Root, Propagation: "private"}
		options := strings.Split(m.Options, ",")
		for _, flag := range []string{"ro", "rw", "nosuid", "nodev", "noexec"} {
			if slices.Contains(options, flag) {
				out.Flags = append(out.Flags, flag)
			}
		}
		if m.Optional != "" {
			out.Propagation = m.Optional
		}
		found = append(found, out)
	}
	return found
}
