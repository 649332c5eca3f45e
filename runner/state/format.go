package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"sandboxrun/runner/config"
	"sandboxrun/runner/document"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"
)

// stateFormat is the format of state directories that this version writes. The file "format" holds a directory's
// format; a directory without it has format 0, written before there was a marker.
const stateFormat = 1

// upgrades convert a state directory from the format of their index to the next one. Each may be repeated: its process
// may die before the marker is written.
var upgrades = [stateFormat]func(*State) error{
	func(*State) error { return nil }, // 0 to 1: adds only the marker
}

// checkFormat refuses the directory of a later version. It changes nothing.
func (s *State) checkFormat() (format int, err error) {
	text, err := document.ReadSmall(s.formatPath(), 64)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("open state directory: %w", err)
	}
	format, err = strconv.Atoi(strings.TrimSpace(string(text)))
	switch {
	case err != nil || format < 1:
		return 0, &document.InputError{
			Message: fmt.Sprintf("the state directory %s has no readable format: %s is damaged", s.dir, s.formatPath()),
			Hint:    fmt.Sprintf("write the number %d to it if no other version of this program uses the directory", stateFormat),
		}
	case format > stateFormat:
		return 0, &document.InputError{
			Message: fmt.Sprintf("the state directory %s has format %d, and this version supports formats up to %d", s.dir, format, stateFormat),
			Hint:    "use the version of sandboxrun that wrote it, or name another directory in " + config.EnvStateDir,
		}
	}
	return format, nil
}

// upgrade converts the directory to this version's format. Of several processes that find an old one, one upgrades it
// and the others wait.
func (s *State) upgrade() (err error) {
	lock := flock.New(s.dir, flock.SetFlag(os.O_RDONLY))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("upgrade state directory: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	format, err := s.checkFormat()
	if err != nil {
		return err
	}
	for ; format < stateFormat; format++ {
		if err := upgrades[format](s); err != nil {
			return fmt.Errorf("upgrade state directory from format %d: %w", format, err)
		}
		text := []byte(strconv.Itoa(format+1) + "\n")
		if err := renameio.WriteFile(s.formatPath(), text, 0o600, renameio.WithTempDir(s.dir)); err != nil {
			return fmt.Errorf("upgrade state directory: %w", err)
		}
	}
	return nil
}

func (s *State) formatPath() string { return filepath.Join(s.dir, "format") }
