// Package demo is the demo's task: the sample repository, the task, and the model that does it, a real one or a
// scripted one.
package demo

import (
	"fmt"
	"maps"

	"sandboxrun/agents"
	job "sandboxrun/agents/scripted/demo"
	"sandboxrun/agents/scripted/modelserver"
	"sandboxrun/runner/config"
	"sandboxrun/runner/document"
)

// The scripted model server accepts any key; the variable exists only inside this process.
const (
	key    = "no-key-needed"
	keyEnv = "SANDBOXRUN_DEMO_KEY"
)

// Model answers the agent's requests.
type Model struct {
	Config config.Config       // names the model's provider
	Getenv func(string) string // knows the provider's key
	Says   string              // for people: whether the model is real
	Close  func()
}

// ChooseModel uses the real provider of the default agent where a key is configured for it, and otherwise starts the
// scripted server.
func ChooseModel(cfg config.Config, getenv func(string) string, scripted bool) (*Model, error) {
	a, ok := agents.Lookup(cfg.DefaultAgent)
	if !ok {
		return nil, &document.InputError{Message: fmt.Sprintf("no agent is called %q", cfg.DefaultAgent), Hint: "sandboxrun agents list"}
	}
	info := a.Info()
	provider := cfg.Providers[info.Providers[0]]
	_, keyErr := cfg.Key(info.Providers[0], getenv)
	if keyErr == nil && !scripted {
		return &Model{Config: cfg, Getenv: getenv, Close: func() {},
			Says: fmt.Sprintf("Model: REAL. %s asks provider %s at %s, with your key.", info.Title, info.Providers[0], provider.BaseURL)}, nil
	}
	why := "--scripted was given"
	if keyErr != nil {
		why = "no key: " + keyErr.Error()
	}
	scenario, err := job.Scenario()
	if err != nil {
		return nil, err
	}
	server, err := modelserver.Start(scenario)
	if err != nil {
		return nil, err
	}
	providers := maps.Clone(cfg.Providers)
	providers[info.Providers[0]] = config.Provider{BaseURL: server.URL(), KeyEnv: keyEnv}
	cfg.Providers = providers
	return &Model{
		Config: cfg,
		Getenv: func(name string) string {
			if name == keyEnv {
				return key
			}
			return getenv(name)
		},
		Says: fmt.Sprintf("Model: SCRIPTED (%s). The program of %s is real; a server at %s plays its model by a script.",
			why, info.Title, server.URL()),
		Close: func() { _ = server.Close() }, // it holds no data
	}, nil
}
