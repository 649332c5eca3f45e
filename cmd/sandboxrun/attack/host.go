package attack

import (
	"context"
	"os"
	"path/filepath"
)

// Key is the provider's key of every scene: it is on the host, and must not be anywhere else.
const Key = "sk-ant-attack-the-real-key-0123456789abcdef"

// KeyVariable is the variable that holds it on the host.
const KeyVariable = "ANTHROPIC_API_KEY"

// Secret is the content of the file that no box may see and no result may hold.
const Secret = "the-secret-of-the-host-outside"

// Host is the part of the host that an attack may prepare or target. All of it is temporary.
type Host struct {
	Canary string   // directory of the canaries; see Attack, PWN
	Out    string   // see Attack, OUT
	Home   string   // HOME of the program and of git on the naive host
	Repo   string   // the user's repository
	State  string   // state directory of the program
	Port   string   // see Attack
	Addrs  []string // see Attack
	Env    []string // more environment of the program and of git on the naive host
	Flags  []string // more flags of execute
	// Config is the program's configuration.
	Config map[string]any
	// Meanwhile runs next to the run, from its start until the context ends.
	Meanwhile func(ctx context.Context)
}

// Write writes a file of the host, making its directories.
func (h *Host) Write(name, content string, mode os.FileMode) error {
	return WriteFile(name, content, mode)
}

// WriteFile writes a file with exactly this mode, making its directories.
func WriteFile(name, content string, mode os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(name, []byte(content), mode); err != nil {
		return err
	}
	return os.Chmod(name, mode)
}
