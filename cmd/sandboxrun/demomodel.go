package main

import (
	"fmt"
	"maps"

	"sandboxrun/agents"
	"sandboxrun/agents/agentstest/demo"
	"sandboxrun/agents/agentstest/modelserver"
	"sandboxrun/runner"
)

// The scripted model server takes any key; the variable exists only inside of
// this process.
const (
	demoKey    = "no-key-needed"
	demoKeyEnv = "SANDBOXRUN_DEMO_KEY"
)

// demoModel is who answers the agent's requests.
type demoModel struct {
	config runner.Config
	getenv func(string) string
	says   string
	close  func()
}

// chooseModel takes the real provider of the default agent where a key is
// configured for it, and otherwise starts the scripted server.
func chooseModel(cfg runner.Config, getenv func(string) string, scripted bool) (*demoModel, error) {
	a, ok := agents.Lookup(cfg.DefaultAgent)
	if !ok {
		return nil, &runner.InputError{Message: fmt.Sprintf("no agent is called %q", cfg.DefaultAgent), Hint: "sandboxrun agents list"}
	}
	info := a.Info()
	provider := cfg.Providers[info.Providers[0]]
	_, keyErr := cfg.Key(info.Providers[0], getenv)
	if keyErr == nil && !scripted {
		return &demoModel{config: cfg, getenv: getenv, close: func() {},
			says: fmt.Sprintf("Model: REAL. %s asks provider %s at %s, with your key.", info.Title, info.Providers[0], provider.BaseURL)}, nil
	}
	why := "--scripted was given"
	if keyErr != nil {
		why = "no key: " + keyErr.Error()
	}
	scenario, err := demo.Scenario()
	if err != nil {
		return nil, err
	}
	server, err := modelserver.Start(scenario)
	if err != nil {
		return nil, err
	}
	providers := maps.Clone(cfg.Providers)
	providers[info.Providers[0]] = runner.Provider{BaseURL: server.URL(), KeyEnv: demoKeyEnv}
	cfg.Providers = providers
	return &demoModel{
		config: cfg,
		getenv: func(name string) string {
			if name == demoKeyEnv {
				return demoKey
			}
			return getenv(name)
		},
		says: fmt.Sprintf("Model: SCRIPTED (%s). The program of %s is real; a server at %s plays its model by a script.",
			why, info.Title, server.URL()),
		close: func() { _ = server.Close() }, // it holds nothing that could be lost
	}, nil
}
