package docker

import (
	"fmt"
	"regexp"
	"time"

	"sandboxrun/sandbox"
)

// Labels of every container and volume this package makes.
const (
	labelBox      = "sandboxrun" // "1"
	labelInstance = "sandboxrun.instance"
	labelOwner    = "sandboxrun.owner"
	labelRole     = "sandboxrun.role"
	labelCreated  = "sandboxrun.created" // RFC 3339, the runner's clock
)

// plainWord is what owners and roles are made of: they become parts of names
// that the engine restricts to these characters.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.]{0,63}$`)

func (e *Engine) labels(s sandbox.Spec, now time.Time) map[string]string {
	return map[string]string{
		labelBox:      "1",
		labelInstance: e.instance,
		labelOwner:    s.Owner,
		labelRole:     s.Role,
		labelCreated:  now.UTC().Format(time.RFC3339),
	}
}

func boxName(owner, role string) string    { return "sandboxrun-" + owner + "-" + role }
func volumeName(owner, role string) string { return boxName(owner, role) + "-tree" }

func checkNames(s sandbox.Spec) error {
	for what, word := range map[string]string{"owner": s.Owner, "role": s.Role} {
		if !plainWord.MatchString(word) {
			return fmt.Errorf("%s %q: use letters, digits, underscores and dots, at most 64", what, word)
		}
	}
	return nil
}
