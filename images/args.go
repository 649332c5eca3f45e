package images

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// predefined are the build arguments every builder accepts undeclared, see
// "Predefined ARGs" in the Dockerfile reference.
var predefined = []string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"}

// HostArgs returns the arguments that configure the network as on this host, the proxies and the npm registry, from
// NAME=value pairs as os.Environ returns them.
func HostArgs(environ []string) map[string]string {
	args := map[string]string{}
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		if value != "" && (name == registry || slices.Contains(predefined, name)) {
			args[name] = value
		}
	}
	return args
}

// Check returns an error when Args holds a name the recipe does not declare (the builder would only warn, and the
// image would lack that setting), and when an agent occurs twice or does not fit into the recipe.
func (b Build) Check() error {
	declared := declaredArgs()
	for _, name := range slices.Sorted(maps.Keys(b.Args)) {
		if _, ok := declared[name]; !ok && !slices.Contains(predefined, name) && (b.Own == "" || name != ownArg) {
			return fmt.Errorf("the recipe of %s has no build argument %s", Name, name)
		}
	}
	seen := map[string]bool{}
	for _, a := range b.Agents {
		if err := a.check(); err != nil {
			return err
		}
		if seen[a.Name] {
			return fmt.Errorf("agent %q occurs twice", a.Name)
		}
		seen[a.Name] = true
	}
	return nil
}

// declaredArgs returns the ARG lines of the recipe and their defaults.
func declaredArgs() map[string]string {
	args := map[string]string{}
	lines := bufio.NewScanner(bytes.NewReader(recipe))
	for lines.Scan() {
		if arg, ok := strings.CutPrefix(lines.Text(), "ARG "); ok {
			name, value, _ := strings.Cut(strings.TrimSpace(arg), "=")
			args[name] = strings.Trim(value, `"`)
		}
	}
	return args
}
