package table

import (
	"path/filepath"
	"strings"

	"sandboxrun/cmd/sandboxrun/attack"
)

func supply() []attack.Attack {
	return []attack.Attack{
		{
			ID: "P01", Group: attack.Supply, Title: "replace the image under the same name", Shares: true,
			Script: "true",
			Breached: func(s attack.Scene) string {
				if s.Result.Box == nil || !strings.Contains(s.Result.Box.ImageDigest, "sha256:") {
					return "the image is not identified"
				}
				return ""
			},
		},
		{
			ID: "P02", Group: attack.Supply, Title: "make the engine fetch an image by its name",
			Naive: attack.Naive{Skip: "it would call a registry"}, Script: "echo it ran",
			Task: boxed("image", "sandboxrun-no-such-image/agent:latest"),
			Breached: func(s attack.Scene) string {
				if s.Refused == "" {
					return "the run was not refused"
				}
				return ""
			},
		},
		{
			ID: "P05", Group: attack.Supply, Title: "bring its own rules for its box", Shares: true,
			Repo: func(root, _ string) error {
				for name, text := range map[string]string{
					"seccomp.json": `{"defaultAction":"SCMP_ACT_ALLOW"}`, ".sandboxrun/config.json": `{"box":{"runtime":"evil"}}`,
					"config.json": `{"box":{"image":"evil"}}`, ".dockerignore": "*", "Dockerfile": "FROM evil\n",
				} {
					if err := attack.WriteFile(filepath.Join(root, name), text, 0o644); err != nil {
						return err
					}
				}
				return nil
			},
			Script:   "dmesg 2>/dev/null | grep -q 'Starting gVisor' || grep '^Seccomp:' /proc/self/status | grep -v '2$' | sed 's/^/GOT /'\necho TRIED",
			Breached: attack.Got, Naive: attack.Naive{Flags: []string{"--security-opt", "seccomp=unconfined"}},
		},
		// From no published list.
		{
			ID: "C04", Group: attack.Supply, Title: "ask for a weaker box in the task", Script: "grep '^CapEff' /proc/self/status | grep -v '00000000$' | sed 's/^/GOT /'",
			Task: func(task map[string]any) {
				task["box"] = map[string]any{
					"privileged": true, "cap_add": []string{"ALL"}, "binds": []string{"/:/host"}, "pid": "host", "network_mode": "host", "devices": []string{"/dev/kmsg"},
					"security_opt": []string{"seccomp=unconfined"}, "userns": "host", "volumes_from": []string{"x"}, "extra_hosts": []string{"x:host-gateway"}, "cgroup_parent": "/",
				}
			},
			Naive: attack.Naive{Flags: []string{"--cap-add", "SYS_ADMIN"}},
			Breached: func(s attack.Scene) string {
				if s.Refused == "" && !s.Naive {
					return "the task was not refused"
				}
				return attack.GotBefore(s)
			},
		},
		{
			ID: "P06", Group: attack.Supply, Title: "load code into every program of the box", Script: "echo $LD_PRELOAD | grep . | sed 's/^/GOT /'",
			Task: func(task map[string]any) {
				task["box"] = map[string]any{"env": map[string]any{"LD_PRELOAD": "/workspace/evil.so", "HTTPS_PROXY": "http://x.test", "ANTHROPIC_BASE_URL": "http://x.test"}}
			},
			Naive: attack.Naive{Flags: []string{"-e", "LD_PRELOAD=/workspace/evil.so"}},
			Breached: func(s attack.Scene) string {
				if s.Refused == "" && !s.Naive {
					return "the task was not refused"
				}
				return attack.GotBefore(s)
			},
		},
	}
}
