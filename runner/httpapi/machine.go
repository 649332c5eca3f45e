package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sandboxrun/agents"
	"sandboxrun/runner/catalog"
	"sandboxrun/runner/document"
	"sandboxrun/runner/httpapi/problem"
	"sandboxrun/runner/plan"
	"sandboxrun/schemas"
)

// doctorEvery is how long a diagnosis is kept.
const doctorEvery = time.Minute

type nameInput struct {
	Name string `maxLength:"200" path:"name"`
}

func (s *Server) machineRoutes() {
	get := func(path, id, summary string) huma.Operation {
		return huma.Operation{Method: http.MethodGet, Path: path, OperationID: id, Summary: summary}
	}
	addRoute(s, get("/api/agents", "listAgents", "List the agents this program can drive"),
		func(context.Context, *struct{}) (*body[[]catalog.Agent], error) {
			return &body[[]catalog.Agent]{catalog.Agents(s.o.Config, s.o.Getenv)}, nil
		})
	addRoute(s, get("/api/agents/{name}", "getAgent", "Show an agent"),
		func(_ context.Context, in *nameInput) (*body[catalog.Agent], error) {
			info, err := agentNamed(in.Name)
			if err != nil {
				return nil, err
			}
			return &body[catalog.Agent]{catalog.AgentOf(s.o.Config, info, s.o.Getenv)}, nil
		})
	addRoute(s, get("/api/agents/{name}/availability", "getAvailability", "Say whether an agent's own program is on this host, and logged in"),
		func(_ context.Context, in *nameInput) (*body[agents.Availability], error) {
			info, err := agentNamed(in.Name)
			if err != nil {
				return nil, err
			}
			return &body[agents.Availability]{catalog.AgentOf(s.o.Config, info, s.o.Getenv).Availability}, nil
		})
	addRoute(s, get("/api/profiles", "listProfiles", "List the variants of all agents"),
		func(context.Context, *struct{}) (*body[[]catalog.Profile], error) {
			list := []catalog.Profile{}
			for _, a := range agents.All() {
				list = append(list, catalog.Profiles(s.o.Config, a.Info())...)
			}
			return &body[[]catalog.Profile]{list}, nil
		})
	addRoute(s, get("/api/profiles/{name}", "getProfiles", "List the variants of an agent"),
		func(_ context.Context, in *nameInput) (*body[[]catalog.Profile], error) {
			info, err := agentNamed(in.Name)
			if err != nil {
				return nil, err
			}
			return &body[[]catalog.Profile]{catalog.Profiles(s.o.Config, info)}, nil
		})
	addRoute(s, get("/api/schemas/{name}", "getSchema", "The JSON Schema of a document"),
		func(_ context.Context, in *nameInput) (*body[json.RawMessage], error) {
			text, err := schemas.ByName(in.Name)
			if err != nil {
				return nil, problem.New(problem.CodeNotFound, "no schema is called so; there are %s", strings.Join(schemas.Names(), ", "))
			}
			return &body[json.RawMessage]{text}, nil
		})
	addRoute(s, get("/api/doctor", "getDoctor", "Check this machine; an answer is kept for a minute"),
		func(ctx context.Context, _ *struct{}) (*body[Diagnosis], error) {
			return &body[Diagnosis]{s.diagnose(ctx)}, nil
		})
	addRoute(s, huma.Operation{Method: http.MethodPost, Path: "/api/plan", OperationID: "plan", Summary: "Compile a task without running anything", RequestBody: taskBody(), Responses: described("200", "The plan.", "Plan")},
		func(_ context.Context, in *rawInput) (*body[json.RawMessage], error) {
			task, err := document.Decode(in.RawBody)
			if err != nil {
				return nil, err
			}
			p, err := plan.Compile(task, s.o.Config, plan.Overrides{})
			if err != nil {
				return nil, err
			}
			doc, err := document.Encode(p)
			return &body[json.RawMessage]{doc}, err
		})
}

func agentNamed(name string) (agents.Info, error) {
	a, ok := agents.Lookup(name)
	if !ok {
		return agents.Info{}, problem.New(problem.CodeNotFound, "no agent is called so")
	}
	return a.Info(), nil
}

func (s *Server) diagnose(ctx context.Context) Diagnosis {
	s.doctor.mu.Lock()
	defer s.doctor.mu.Unlock()
	if s.doctor.at.IsZero() || time.Since(s.doctor.at) > doctorEvery {
		d := s.o.Machine.Doctor(ctx)
		if ctx.Err() != nil {
			return d // incomplete
		}
		s.doctor.last, s.doctor.at = d, time.Now()
	}
	return s.doctor.last
}
