package mcp

import (
	"fmt"
	"slices"
	"strings"

	"sandboxrun/runner/document"
	"sandboxrun/runner/plan"
)

// permitted reports all that a task asks for and that only the person at this machine decides. It reads the task as
// strictly as the command line does.
func (s *Server) permitted(data []byte) error {
	t, err := document.Decode(data)
	if err != nil {
		return err
	}
	var p document.Problems
	if t.MaxRuntimeSeconds > s.o.Seconds {
		p.Add("/max_runtime_seconds", "must be at most %d here", s.o.Seconds)
	}
	if a := t.Approvals; a != nil {
		if a.Policy == document.ApproveAuto {
			p.Add("/approvals/policy", "must be %s or %s, or missing: only a person gives an agent more freedom", document.ApproveAsk, document.ApproveDeny)
		}
		if len(a.Allow) > 0 {
			p.Add("/approvals/allow", "must be missing: only a person allows what an agent asks for")
		}
	}
	if t.Box != nil {
		s.boxProblems(t.Box, &p)
	}
	return p.Err("the task asks for more than a client of this server may have",
		`leave it out, or let the person at this machine decide: "sandboxrun mcp --help", "sandboxrun config show"`)
}

// boxProblems compares what a task asks of its boxes with the configuration.
func (s *Server) boxProblems(b *document.BoxRequest, p *document.Problems) {
	box := s.o.Config.Box
	most := plan.BoxesOf(box, s.o.Config.Limits, nil).Limits
	if b.Runtime != "" && b.Runtime != box.Runtime {
		p.Add("/box/runtime", "must be missing or that of the configuration; box.require_tier asks for more isolation")
	}
	if int64(b.Memory) > most.MemoryBytes {
		p.Add("/box/memory", "must be at most %d", most.MemoryBytes)
	}
	if b.CPUs > most.CPUs {
		p.Add("/box/cpus", "must be at most %g", most.CPUs)
	}
	if b.PIDs > most.PIDs {
		p.Add("/box/pids", "must be at most %d", most.PIDs)
	}
	if int64(b.Disk) > most.DiskBytes {
		p.Add("/box/disk", "must be at most %d", most.DiskBytes)
	}
	if b.Network == nil {
		return
	}
	open := slices.Concat(box.Network.Allow, s.o.Hosts)
	for name, hosts := range map[string][]string{"allow": b.Network.Allow, "verify_allow": b.Network.VerifyAllow} {
		for i, host := range hosts {
			if !slices.ContainsFunc(open, func(o string) bool { return strings.EqualFold(o, host) }) {
				p.Add(fmt.Sprintf("/box/network/%s/%d", name, i), "is not open: neither box.network.allow of the configuration nor --allow-host names it")
			}
		}
	}
}
