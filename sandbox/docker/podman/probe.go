package podman

import (
	"io"
	"slices"
	"strings"

	"maps"

	"github.com/moby/sys/mountinfo"
)

// ProbeBytes bounds what a probe may print, in bytes: status and mount tables take a tenth of it.
const ProbeBytes = 256 << 10

// probeScript prints files, each line after a tab, and which of the paths exist and which of the directories are
// writable. It needs nothing but a POSIX shell. The arguments are files to print, "--", paths to look for, "--",
// directories to write to.
const probeScript = `
while [ "$1" != -- ]; do
	if [ -r "$1" ]; then
		echo "file $1"
		while IFS= read -r line || [ -n "$line" ]; do printf '\t%s\n' "$line"; done <"$1"
	fi
	shift
done
shift
while [ "$1" != -- ]; do
	[ ! -e "$1" ] || echo "there $1"
	shift
done
shift
for dir; do
	[ ! -w "$dir" ] || echo "writable $dir"
done
echo end
`

// Files and paths a probe inspects.
var (
	probeFiles = []string{
		"/proc/1/status", "/proc/self/status", "/proc/self/mountinfo", "/proc/self/cgroup", "/proc/net/dev",
		"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.swap.max", "/sys/fs/cgroup/pids.max",
		"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.memsw.limit_in_bytes",
		"/sys/fs/cgroup/pids/pids.max",
	}
	// maskedPaths are those of the kernel's paths that both Docker and Podman hide.
	maskedPaths = []string{
		"/proc/acpi", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/sched_debug", "/proc/scsi",
		"/proc/timer_list", "/proc/timer_stats", "/sys/firmware",
	}
	// frozenPaths are those that both make read-only.
	frozenPaths = []string{"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"}
)

// view is a box seen from inside.
type view struct {
	id              string              // of the container
	cgroupV1        bool                // the engine's machine has no cgroup v2
	files           map[string][]string // lines by path
	mounts          []*mountinfo.Info
	there, writable []string
}

// Probe is the command that prints the state of a box as seen from inside; Inspect judges at most ProbeBytes bytes of
// its output. The shell is the image's: a lying image deceives only together with an engine that does not fulfil the
// request.
func Probe(r Request) []string {
	return slices.Concat([]string{"/bin/sh", "-c", probeScript, "probe"}, probeFiles, []string{"--"}, maskedPaths, frozenPaths, []string{"--"}, tmpfsTargets(r))
}

// parseView reads the script's output up to its last line.
func parseView(out io.Reader) (view, error) {
	text, err := io.ReadAll(out)
	if err != nil {
		return view{}, err
	}
	v := view{files: map[string][]string{}}
	file, ended := "", false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if content, ok := strings.CutPrefix(line, "\t"); ok {
			v.files[file] = append(v.files[file], content)
			continue
		}
		word, path, _ := strings.Cut(line, " ")
		switch word {
		case "file":
			file = path
		case "there":
			v.there = append(v.there, path)
		case "writable":
			v.writable = append(v.writable, path)
		case "end":
			ended = true
		}
	}
	if !ended {
		return view{}, io.ErrUnexpectedEOF
	}
	table := strings.Join(v.files["/proc/self/mountinfo"], "\n")
	v.mounts, err = mountinfo.GetMountsFromReader(strings.NewReader(table), nil)
	return v, err
}

// field is the value of a "Name:\tvalue" line of a status file.
func (v view) field(path, name string) string {
	for _, line := range v.files[path] {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// mount is the uppermost mount at a path, nil when there is none.
func (v view) mount(path string) *mountinfo.Info {
	for _, m := range slices.Backward(v.mounts) {
		if m.Mountpoint == path {
			return m
		}
	}
	return nil
}

func tmpfsTargets(r Request) []string { return slices.Sorted(maps.Keys(r.Host.Tmpfs)) }
