package config

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"sandboxrun/runner/document"
)

// Load reads the user's configuration: defaults, over them the file, over
// that the environment. A file that is not there is no error unless the
// environment names it. Errors are *InputError, or failures of reading.
func Load(getenv func(string) string) (Config, error) {
	path, named, err := configPath(getenv)
	if err != nil {
		return Config{}, err
	}
	c := Default()
	data, err := document.ReadSmall(path, document.MaxDocument)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !named:
	case err != nil:
		return Config{}, &document.InputError{
			Message: fmt.Sprintf("cannot read the configuration: %v", err),
			Hint:    "check " + EnvConfig,
		}
	default:
		file, err := Decode(data)
		if err != nil {
			if bad, ok := errors.AsType[*document.InputError](err); ok {
				bad.Message = fmt.Sprintf("the configuration %s is not valid", path)
			}
			return Config{}, err
		}
		c = file.Over(c)
	}
	if c.Profiles, err = loadProfiles(getenv); err != nil {
		return Config{}, err
	}
	return c.withEnvironment(getenv)
}

// Path says where the user's configuration is, also where there is none yet.
func Path(getenv func(string) string) (string, error) {
	path, _, err := configPath(getenv)
	return path, err
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
		return "", &document.InputError{Message: EnvStateDir + " must be an absolute path"}
	}
	return filepath.Clean(dir), nil
}

// Decode reads a configuration as strictly as Decode reads a task.
func Decode(data []byte) (Config, error) {
	var c Config
	var p document.Problems
	if document.DecodeInto("config", data, nil, &c, &p) {
		p.NextStage()
		c.validate(&p)
	}
	return c, p.Err("the configuration is not valid", `"sandboxrun schema config" prints what it may hold`)
}

// withEnvironment lays the environment over c.
func (c Config) withEnvironment(getenv func(string) string) (Config, error) {
	var p document.Problems
	note := func(variable, why string) {
		if why != "" {
			p.Add("", "%s %s", variable, why)
		}
	}
	env := Config{
		DefaultAgent: getenv(EnvAgent),
		Box:          Box{Image: getenv(EnvImage), Runtime: getenv(EnvRuntime)},
		Providers:    map[string]Provider{},
	}
	if env.DefaultAgent != "" {
		note(EnvAgent, document.AgentProblem(env.DefaultAgent))
	}
	note(EnvImage, document.ImageProblem(env.Box.Image))
	note(EnvRuntime, document.RuntimeProblem(env.Box.Runtime))
	for name, b := range builtinProviders() {
		if b.baseURLEnv == "" {
			continue
		}
		if url := getenv(b.baseURLEnv); url != "" {
			note(b.baseURLEnv, urlProblem(url))
			env.Providers[name] = Provider{BaseURL: url}
		}
	}
	if err := p.Err("the environment is not valid", ""); err != nil {
		return Config{}, err
	}
	out := env.Over(c)
	if len(out.Repositories) > 0 && (env.Box.Image != "" || env.DefaultAgent != "") { // the environment overrides all of the file
		env.Repositories = map[string]Repository{}
		for path, r := range out.Repositories {
			if env.Box.Image != "" {
				r.Image = ""
			}
			if env.DefaultAgent != "" {
				r.Agent = ""
			}
			env.Repositories[path] = r
		}
		out.Repositories = env.Repositories
	}
	return out, nil
}

func (c Config) validate(p *document.Problems) {
	if c.DefaultAgent != "" {
		if why := document.AgentProblem(c.DefaultAgent); why != "" {
			p.Add("/default_agent", "%s", why)
		}
	}
	for name, provider := range c.Providers {
		provider.validate("/providers/"+name, name, p)
	}
	c.Box.request().Validate("/box", p)
	c.Limits.validate("/limits", p)
	c.Serve.validate("/serve", p)
	for i, r := range c.Readings {
		if at, why := r.Problem(); why != "" {
			p.Add(fmt.Sprintf("/readings/%d%s", i, at), "%s", why)
		}
	}
	for path, r := range c.Repositories {
		r.validate("/repositories/"+strings.ReplaceAll(strings.ReplaceAll(path, "~", "~0"), "/", "~1"), p)
	}
}
