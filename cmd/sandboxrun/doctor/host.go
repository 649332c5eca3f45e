package doctor

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"sandboxrun/agents"
	"sandboxrun/cmd/sandboxrun/guest"
	"sandboxrun/images"
	"sandboxrun/runner/config"
	"sandboxrun/sandbox"
)

// Free space that the disk of the state directory should have.
const (
	fewBytes  = 5 << 30 // a few large repositories and their bases
	fewInodes = 100_000
	noInodes  = 1_000
)

func checkProgram(_ context.Context, x *Examination) Finding {
	path, err := guest.Binary()
	if err != nil {
		return Fail("make build", "%v", err)
	}
	return Pass("%s is static, version %s", path, x.Version)
}

func checkConfiguration(_ context.Context, x *Examination) Finding {
	if x.ConfigErr != nil {
		return Fail("sandboxrun schema config", "%v", x.ConfigErr)
	}
	return Pass("agent %s, image %s", x.Config.DefaultAgent, x.Config.Box.Image)
}

func checkState(_ context.Context, x *Examination) Finding {
	if x.StateErr != nil {
		return Fail("make it writable, or set "+config.EnvStateDir, "%v", x.StateErr)
	}
	dir := x.State.Dir()
	st, err := os.Stat(dir)
	if err != nil {
		return Fail("make it writable, or set "+config.EnvStateDir, "%v", err)
	}
	trial, err := os.CreateTemp(dir, ".doctor-")
	if err != nil {
		return Fail("make it writable, or set "+config.EnvStateDir, "%v", err)
	}
	if err := trial.Close(); err != nil {
		return Fail("", "%v", err)
	}
	if err := os.Remove(trial.Name()); err != nil {
		return Fail("", "%v", err)
	}
	return Pass("%s, mode %04o", dir, st.Mode().Perm())
}

func checkDisk(_ context.Context, x *Examination) Finding {
	if x.StateErr != nil {
		return Caution("", "not checked: no state directory")
	}
	var st unix.Statfs_t
	if err := unix.Statfs(x.State.Dir(), &st); err != nil {
		return Fail("", "%v", err)
	}
	free, inodes := st.Bavail*uint64(st.Bsize), st.Ffree
	text := fmt.Sprintf("%.1f GB and %d inodes free below the state directory", float64(free)/1e9, inodes)
	if st.Files == 0 { // file systems that create inodes on demand
		text, inodes = fmt.Sprintf("%.1f GB free below the state directory", float64(free)/1e9), fewInodes
	}
	switch {
	case free < uint64(sandbox.DefaultLimits().FreeBytes) || inodes < noInodes:
		return Fail("free space there, or set "+config.EnvStateDir, "%s: boxes would be stopped at once", text)
	case free < fewBytes || inodes < fewInodes:
		return Caution("free space there, or set "+config.EnvStateDir, "%s: large repositories may not fit", text)
	}
	return Pass("%s", text)
}

func checkCrashed(_ context.Context, x *Examination) Finding {
	if x.StateErr != nil {
		return Caution("", "not checked: no state directory")
	}
	crashed, err := x.State.HasCrashed()
	switch {
	case err != nil:
		return Fail("", "%v", err)
	case crashed:
		return Caution("sandboxrun reap", "a run died and has not been settled yet")
	}
	return Pass("none")
}

func checkKeys(_ context.Context, x *Examination) Finding {
	if x.ConfigErr != nil {
		return Caution("", "not checked: no configuration")
	}
	var set, missing []string
	for _, agent := range agents.All() {
		a := agent.Info()
		provider, known := x.Config.Providers[a.Providers[0]]
		_, err := x.Config.Key(a.Providers[0], x.Getenv)
		switch {
		case !known:
			missing = append(missing, fmt.Sprintf("%s: not configured (%s)", a.Providers[0], a.Name))
		case err != nil:
			missing = append(missing, fmt.Sprintf("%s: %v (%s)", a.Providers[0], err, a.Name))
		default:
			set = append(set, fmt.Sprintf("%s: set, for %s", a.Providers[0], provider.BaseURL))
		}
	}
	slices.Sort(set)
	all := strings.Join(append(slices.Compact(set), missing...), "; ")
	if len(missing) > 0 {
		return Caution("set the variable, or key_file in the configuration; \"sandboxrun demo\" and mode command need no key", "%s", all)
	}
	return Pass("%s", all)
}

func checkCertificates(_ context.Context, x *Examination) Finding {
	bundle, err := images.HostCABundle(x.Getenv)
	switch {
	case err != nil:
		return Fail("correct SSL_CERT_FILE", "%v", err)
	case len(bundle) == 0:
		return Caution("install ca-certificates", "this machine has no bundle of certificate authorities to give to boxes")
	}
	return Pass("boxes and image builds trust what this machine trusts (%d kB)", len(bundle)/1000)
}
