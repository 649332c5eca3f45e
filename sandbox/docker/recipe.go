package docker

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/go-units"

	"sandboxrun/sandbox"
)

const (
	// shmLeast and shmMost bound the size of /dev/shm, which is charged to the memory limit. Browsers and databases fail with the
	// engine's default, which is shmLeast.
	shmLeast, shmMost = 64 << 20, 2 << 30
	// runBytes is the size of /run.
	runBytes = 16 << 20
	// fileSlack lets a single file grow past the disk limit far enough that the watchdog ends the box before SIGXFSZ
	// ends the process.
	fileSlack = 1 << 20
	// cpuPeriod is the kernel's default scheduling period. Period and quota are used, not NanoCPUs, because the engine
	// refuses more NanoCPUs than its machine has, and "at most four" must work on two.
	cpuPeriod = 100_000
)

// recipe is a complete create request.
type recipe struct {
	Name    string
	Config  *container.Config
	Host    *container.HostConfig
	Network *network.NetworkingConfig
}

// setting is the part of a recipe that depends on the engine and the time.
type setting struct {
	etc []mount.Mount
	// noNetworking makes the engine skip the set-up of the network mode "none".
	noNetworking bool
	// tmpfs writes mount options in the engine's form, tmpfsOptions if nil.
	tmpfs tmpfsWords
	now   time.Time
}

// newRecipe builds the hardened container from zero: it requests only what is written here, and overrides what an
// image could bring along.
func (e *Engine) newRecipe(s sandbox.Spec, img image, at setting) (recipe, error) {
	user := fmt.Sprintf("%d:%d", s.User.UID, s.User.GID)
	profile, _ := seccompProfile()
	engineInit := !s.GuestIsInit
	mounts := append([]mount.Mount{treeMount(s.Tree, volumeName(s.Owner, s.Role))}, at.etc...)
	for _, b := range s.Binds {
		mounts = append(mounts, readOnly(b.Source, b.Target))
	}
	if at.tmpfs == nil {
		at.tmpfs = tmpfsOptions
	}
	tmpfs := map[string]string{
		sandbox.TempDir: at.tmpfs(s.User, s.Limits.TmpBytes, "exec,mode=1777"),
		sandbox.Home:    at.tmpfs(s.User, s.Limits.TmpBytes, "exec,mode=0700"),
		"/run":          at.tmpfs(s.User, runBytes, "noexec,mode=0755"),
	}
	if err := coverVolumes(tmpfs, mounts, img.volumes, s, at.tmpfs); err != nil {
		return recipe{}, err
	}
	return recipe{
		Name: boxName(s.Owner, s.Role),
		Config: &container.Config{
			Image:           img.id,
			Hostname:        hostname,
			User:            user,
			Env:             environment(img.env, s.Env),
			Entrypoint:      s.Guest,
			Cmd:             nil,
			WorkingDir:      sandbox.WorkDir,
			AttachStdin:     true,
			AttachStdout:    true,
			AttachStderr:    true,
			OpenStdin:       true,
			StdinOnce:       true,
			NetworkDisabled: at.noNetworking,
			Healthcheck:     &container.HealthConfig{Test: []string{"NONE"}},
			StopSignal:      "SIGKILL",
			Labels:          e.labels(s, at.now),
		},
		Host: &container.HostConfig{
			NetworkMode:    network.NetworkNone,
			IpcMode:        container.IPCModePrivate,
			CgroupnsMode:   container.CgroupnsModePrivate,
			CapDrop:        []string{"ALL"},
			SecurityOpt:    []string{"no-new-privileges:true", "seccomp=" + profile},
			ReadonlyRootfs: true,
			Tmpfs:          tmpfs,
			ShmSize:        shmBytes(s.Limits),
			LogConfig:      container.LogConfig{Type: "none"},
			RestartPolicy:  container.RestartPolicy{Name: container.RestartPolicyDisabled},
			OomScoreAdj:    500,
			Runtime:        s.Runtime,
			Init:           &engineInit,
			Mounts:         mounts,
			Resources: container.Resources{
				Memory:     s.Limits.MemoryBytes,
				MemorySwap: s.Limits.MemoryBytes,
				CPUPeriod:  cpuPeriod,
				CPUQuota:   int64(s.Limits.CPUs * cpuPeriod),
				PidsLimit:  &s.Limits.PIDs,
				Ulimits: []*units.Ulimit{
					{Name: "core", Soft: 0, Hard: 0},
					{Name: "fsize", Soft: s.Limits.DiskBytes + fileSlack, Hard: s.Limits.DiskBytes + fileSlack},
					{Name: "nofile", Soft: s.Limits.OpenFiles, Hard: s.Limits.OpenFiles},
				},
			},
		},
		Network: &network.NetworkingConfig{},
	}, nil
}

// shmBytes is the size of /dev/shm: half of the memory, within bounds.
func shmBytes(l sandbox.Limits) int64 { return min(max(l.MemoryBytes/2, shmLeast), shmMost) }

// tmpfsOptions always names uid and gid: mode is ignored where the mount point exists in the image, ownership never
// is. The engine adds noexec by itself unless the options say "exec".
func tmpfsOptions(u sandbox.User, size int64, rest string) string {
	inodes := max(size/4096, 1024)
	return "rw,nosuid,nodev," + rest +
		",size=" + strconv.FormatInt(size, 10) +
		",nr_inodes=" + strconv.FormatInt(inodes, 10) +
		",uid=" + strconv.Itoa(u.UID) + ",gid=" + strconv.Itoa(u.GID)
}

// Labels of every container and volume this package makes.
const (
	labelBox      = "sandboxrun" // "1"
	labelInstance = "sandboxrun.instance"
	labelOwner    = "sandboxrun.owner"
	labelRole     = "sandboxrun.role"
	labelCreated  = "sandboxrun.created" // RFC 3339, the runner's clock
)

// plainWord matches owners and roles: they become parts of names that the engine restricts to these characters.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.]{0,63}$`)

func (e *Engine) labels(s sandbox.Spec, now time.Time) map[string]string {
	return map[string]string{
		labelBox:      "1",
		labelInstance: e.instance,
		labelOwner:    s.Owner,
		labelRole:     s.Role,
		labelCreated:  now.UTC().Format(time.RFC3339),
	}
}

func boxName(owner, role string) string    { return "sandboxrun-" + owner + "-" + role }
func volumeName(owner, role string) string { return boxName(owner, role) + "-tree" }

func checkNames(s sandbox.Spec) error {
	for what, word := range map[string]string{"owner": s.Owner, "role": s.Role} {
		if !plainWord.MatchString(word) {
			return fmt.Errorf("%s %q: use letters, digits, underscores and dots, at most 64", what, word)
		}
	}
	return nil
}

// An image's own environment is not trusted: the engine would merge it into every process (LD_PRELOAD, proxies,
// DOCKER_HOST…). Only variables by which the programs of a toolchain image find each other are kept.
var (
	keptNames    = []string{"PATH", "LANG", "LANGUAGE", "TZ", "TERM", "NODE_PATH"}
	keptPrefixes = []string{"LC_", "GO"}
	keptSuffixes = []string{"_HOME", "_VERSION", "_ROOT", "_CERT_FILE", "_CERT_DIR", "_CERTS", "_CAFILE", "_CA_BUNDLE"}
)

// environment is the Config.Env of a box whose image declares image: one entry for each name, the last one in spec. A
// name without "=" makes the engine drop the image's variable. (Engine API reference, ContainerCreate, Env.)
func environment(image, spec []string) []string {
	var env []string
	at := map[string]int{}
	for _, pair := range append([]string{"HOME=" + sandbox.Home}, spec...) {
		name, _, _ := strings.Cut(pair, "=")
		if i, ok := at[name]; ok {
			env[i] = pair
			continue
		}
		at[name] = len(env)
		env = append(env, pair)
	}
	for _, pair := range image {
		name, _, _ := strings.Cut(pair, "=")
		if _, ok := at[name]; !ok && !keptFromImage(name) {
			at[name] = len(env)
			env = append(env, name)
		}
	}
	return env
}

func keptFromImage(name string) bool {
	is := func(test func(s, part string) bool) func(string) bool {
		return func(part string) bool { return test(name, part) }
	}
	return slices.Contains(keptNames, name) ||
		slices.ContainsFunc(keptPrefixes, is(strings.HasPrefix)) ||
		slices.ContainsFunc(keptSuffixes, is(strings.HasSuffix))
}
