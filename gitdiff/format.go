package gitdiff

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"sandboxrun/gitdiff/gitfile"

	"github.com/go-git/go-git/v5/plumbing/format/config"
)

// FormatError is returned by [Open] for a repository whose format cannot be read.
type FormatError struct {
	Path   string // the git directory
	Reason string // what about it is not supported
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("%s: unsupported repository format: %s", e.Path, e.Reason)
}

// MaxConfig bounds a repository's config file.
const MaxConfig = 4 << 20

// harmless are the repository extensions that change nothing about how objects, refs and HEAD are read. A partial clone
// may lack objects, which the error of a missing one says. See git's Documentation/config/extensions.txt.
var harmless = map[string]bool{
	"noop": true, "preciousobjects": true, "partialclone": true, "worktreeconfig": true, "relativeworktrees": true,
}

// readConfig parses a configuration file by itself, without the files it includes. One that does not exist is empty.
func readConfig(dir, name string) (*config.Config, error) {
	cfg := config.New()
	text, err := gitfile.ReadIn(dir, name, MaxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return cfg, nil
	}
	if err != nil {
		return nil, err
	}
	return cfg, config.NewDecoder(bytes.NewReader(text)).Decode(cfg)
}

// checkFormat reads the format part of the config file, and nothing else of it, and refuses what cannot be read here.
// Included files are not followed: git, too, takes the format from this file alone.
func checkFormat(commonDir string) error {
	text, err := gitfile.ReadIn(commonDir, "config", MaxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // a repository of git's first format
	}
	if err != nil {
		return err
	}
	cfg := config.New()
	if err := config.NewDecoder(bytes.NewReader(text)).Decode(cfg); err != nil {
		return &FormatError{commonDir, "its config file cannot be parsed: " + err.Error()}
	}
	if v := cfg.Section("core").Option("repositoryformatversion"); v != "" && v != "0" && v != "1" {
		return &FormatError{commonDir, "repository format version " + v}
	}
	for _, o := range cfg.Section("extensions").Options {
		key, value := strings.ToLower(o.Key), strings.ToLower(o.Value)
		switch {
		case key == "objectformat" && value == "sha1", key == "refstorage" && value == "files", harmless[key]:
		case key == "objectformat":
			return &FormatError{commonDir, value + " object ids (only sha1 is supported)"}
		case key == "refstorage":
			return &FormatError{commonDir, value + " ref storage (only files are supported)"}
		default:
			return &FormatError{commonDir, "extension " + key}
		}
	}
	return nil
}
