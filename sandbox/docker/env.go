package docker

import (
	"slices"
	"strings"

	"sandboxrun/sandbox"
)

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
