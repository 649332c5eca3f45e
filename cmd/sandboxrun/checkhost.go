package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"sandboxrun/images"
	"sandboxrun/runner"
	"sandboxrun/sandbox"
)

// What the disk of the state directory should have free.
const (
	fewBytes  = 5 << 30 // a few large repositories and their bases
	fewInodes = 100_000
	noInodes  = 1_000
)

func checkProgram(context.Context, *examination) finding {
	v := buildVersion()
	path, err := guestBinary()
	if err != nil {
		return fail("make build", "%v", err)
	}
	return pass("%s is static, version %s", path, v.Version)
}

func checkConfiguration(_ context.Context, x *examination) finding {
	if x.configErr != nil {
		return fail("sandboxrun schema config", "%v", x.configErr)
	}
	return pass("agent %s, image %s", x.config.DefaultAgent, x.config.Box.Image)
}

func checkState(_ context.Context, x *examination) finding {
	if x.stateErr != nil {
		return fail("make it writable, or set "+runner.EnvStateDir, "%v", x.stateErr)
	}
	dir := x.state.Dir()
	st, err := os.Stat(dir)
	if err != nil {
		return fail("make it writable, or set "+runner.EnvStateDir, "%v", err)
	}
	trial, err := os.CreateTemp(dir, ".doctor-")
	if err != nil {
		return fail("make it writable, or set "+runner.EnvStateDir, "%v", err)
	}
	if err := trial.Close(); err != nil {
		return fail("", "%v", err)
	}
	if err := os.Remove(trial.Name()); err != nil {
		return fail("", "%v", err)
	}
	return pass("%s, mode %04o", dir, st.Mode().Perm())
}

func checkDisk(_ context.Context, x *examination) finding {
	if x.stateErr != nil {
		return caution("", "not looked at: no state directory")
	}
	var st unix.Statfs_t
	if err := unix.Statfs(x.state.Dir(), &st); err != nil {
		return fail("", "%v", err)
	}
	free, inodes := st.Bavail*uint64(st.Bsize), st.Ffree
	text := fmt.Sprintf("%.1f GB and %d inodes free below the state directory", float64(free)/1e9, inodes)
	if st.Files == 0 { // file systems that make inodes as they need them
		text, inodes = fmt.Sprintf("%.1f GB free below the state directory", float64(free)/1e9), fewInodes
	}
	switch {
	case free < uint64(sandbox.DefaultLimits().FreeBytes) || inodes < noInodes:
		return fail("free space there, or set "+runner.EnvStateDir, "%s: boxes would be stopped at once", text)
	case free < fewBytes || inodes < fewInodes:
		return caution("free space there, or set "+runner.EnvStateDir, "%s: large repositories may not fit", text)
	}
	return pass("%s", text)
}

func checkCrashed(_ context.Context, x *examination) finding {
	if x.stateErr != nil {
		return caution("", "not looked at: no state directory")
	}
	crashed, err := x.state.HasCrashed()
	switch {
	case err != nil:
		return fail("", "%v", err)
	case crashed:
		return caution("sandboxrun reap", "a run died and was not cleared away yet")
	}
	return pass("none")
}

func checkKeys(_ context.Context, x *examination) finding {
	if x.configErr != nil {
		return caution("", "not looked at: no configuration")
	}
	var set, missing []string
	for _, a := range registered() {
		provider, known := x.config.Providers[a.Providers[0]]
		_, err := x.config.Key(a.Providers[0], x.getenv)
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
		return caution("set the variable, or key_file in the configuration; \"sandboxrun demo\" and mode command need no key", "%s", all)
	}
	return pass("%s", all)
}

func checkCertificates(_ context.Context, x *examination) finding {
	bundle, err := images.HostCABundle(x.getenv)
	switch {
	case err != nil:
		return fail("correct SSL_CERT_FILE", "%v", err)
	case len(bundle) == 0:
		return caution("install ca-certificates", "this machine has no bundle of certificate authorities to give to boxes")
	}
	return pass("boxes and image builds trust what this machine trusts (%d kB)", len(bundle)/1000)
}
