package runner

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// Environment variables that decide what the configuration would.
const (
	EnvConfig   = "SANDBOXRUN_CONFIG"    // path of the configuration
	EnvStateDir = "SANDBOXRUN_STATE_DIR" // absolute path of the state directory
	EnvAgent    = "SANDBOXRUN_AGENT"     // default_agent
	EnvImage    = "SANDBOXRUN_IMAGE"     // box.image
	EnvRuntime  = "SANDBOXRUN_RUNTIME"   // box.runtime
)

// LoadConfig reads the user's configuration: defaults, over them the file, over
// that the environment. A file that is not there is no error unless the
// environment names it. Errors are *InputError, or failures of reading.
func LoadConfig(getenv func(string) string) (Config, error) {
	path, named, err := configPath(getenv)
	if err != nil {
		return Config{}, err
	}
	c := DefaultConfig()
	data, err := readSmall(path, maxDocument)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !named:
	case err != nil:
		return Config{}, &InputError{
			Message: fmt.Sprintf("cannot read the configuration: %v", err),
			Hint:    "check " + EnvConfig,
		}
	default:
		file, err := decodeConfig(data)
		if err != nil {
			if bad, ok := errors.AsType[*InputError](err); ok {
				bad.Message = fmt.Sprintf("the configuration %s is not valid", path)
			}
			return Config{}, err
		}
		c = file.over(c)
	}
	if c.Profiles, err = loadProfiles(getenv); err != nil {
		return Config{}, err
	}
	return c.withEnvironment(getenv)
}

// configPath says where the configuration is and whether somebody named it.
func configPath(getenv func(string) string) (path string, named bool, err error) {
	if path := getenv(EnvConfig); path != "" {
		return path, true, nil
	}
	dir, err := baseDir(getenv, "XDG_CONFIG_HOME", ".config")
	return filepath.Join(dir, "config.json"), false, err
}

// StateDir says where the program keeps its state: SANDBOXRUN_STATE_DIR, or
// sandboxrun below XDG_STATE_HOME (~/.local/state).
func StateDir(getenv func(string) string) (string, error) {
	dir := getenv(EnvStateDir)
	if dir == "" {
		return baseDir(getenv, "XDG_STATE_HOME", ".local/state")
	}
	if !filepath.IsAbs(dir) {
		return "", &InputError{Message: EnvStateDir + " must be an absolute path"}
	}
	return filepath.Clean(dir), nil
}

// baseDir follows the XDG Base Directory Specification, by which a relative
// path in a variable is to be ignored.
func baseDir(getenv func(string) string, variable, below string) (string, error) {
	if dir := getenv(variable); filepath.IsAbs(dir) {
		return filepath.Join(dir, "sandboxrun"), nil
	}
	home := getenv("HOME")
	if !filepath.IsAbs(home) {
		return "", &InputError{
			Message: fmt.Sprintf("neither %s nor HOME is an absolute path", variable),
			Hint:    fmt.Sprintf("set HOME, or %s and %s", EnvConfig, EnvStateDir),
		}
	}
	return filepath.Join(home, below, "sandboxrun"), nil
}

// decodeConfig reads a configuration as strictly as Decode reads a task.
func decodeConfig(data []byte) (Config, error) {
	var c Config
	var p problems
	if decodeDocument("config", data, nil, &c, &p) {
		p.nextStage()
		c.validate(&p)
	}
	return c, p.err("the configuration is not valid", `"sandboxrun schema config" prints what it may hold`)
}

// withEnvironment lays the environment over c.
func (c Config) withEnvironment(getenv func(string) string) (Config, error) {
	var p problems
	note := func(variable, why string) {
		if why != "" {
			p.add("", "%s %s", variable, why)
		}
	}
	env := Config{
		DefaultAgent: getenv(EnvAgent),
		Box:          BoxConfig{Image: getenv(EnvImage), Runtime: getenv(EnvRuntime)},
		Providers:    map[string]Provider{},
	}
	if env.DefaultAgent != "" {
		note(EnvAgent, agentProblem(env.DefaultAgent))
	}
	note(EnvImage, imageProblem(env.Box.Image))
	note(EnvRuntime, runtimeProblem(env.Box.Runtime))
	for name, b := range builtinProviders() {
		if b.baseURLEnv == "" {
			continue
		}
		if url := getenv(b.baseURLEnv); url != "" {
			note(b.baseURLEnv, urlProblem(url))
			env.Providers[name] = Provider{BaseURL: url}
		}
	}
	if err := p.err("the environment is not valid", ""); err != nil {
		return Config{}, err
	}
	return env.over(c), nil
}

func (c Config) validate(p *problems) {
	if c.DefaultAgent != "" {
		if why := agentProblem(c.DefaultAgent); why != "" {
			p.add("/default_agent", "%s", why)
		}
	}
	for name, provider := range c.Providers {
		provider.validate("/providers/"+name, name, p)
	}
	c.Box.request().validate("/box", p)
	c.Limits.validate("/limits", p)
	for i, root := range c.Serve.RepoRoots {
		if hasDotDot(root) {
			p.add(fmt.Sprintf("/serve/repo_roots/%d", i), `must not hold ".." segments`)
		}
	}
}
