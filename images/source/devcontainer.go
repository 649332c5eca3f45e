package source

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// maxDevcontainer bounds a devcontainer.json, in bytes.
const maxDevcontainer = 1 << 20

// devcontainerPaths are where a repository keeps it, in the order of the specification (containers.dev).
var devcontainerPaths = []string{".devcontainer/devcontainer.json", ".devcontainer.json"}

// Devcontainer is what this program takes from a devcontainer.json: Image or Build, never both.
type Devcontainer struct {
	File  string // the file it was read from, below the directory
	Image string
	Build *Source
	// Unused are the keys that change the container and that this program does not follow, by name.
	Unused []string
}

// FieldError says what of a devcontainer.json cannot be used. Field is a JSON pointer, "" for the whole file.
type FieldError struct{ File, Field, Reason string }

func (e *FieldError) Error() string {
	if e.Field == "" {
		return e.File + ": " + e.Reason
	}
	return e.File + ": " + e.Field + ": " + e.Reason
}

// devcontainerFile are the keys that are read. "dockerFile" and "context" are the older forms of those in "build".
type devcontainerFile struct {
	Image string `json:"image"`
	Build *struct {
		Dockerfile string            `json:"dockerfile"`
		Context    string            `json:"context"`
		Target     string            `json:"target"`
		Args       map[string]string `json:"args"`
	} `json:"build"`
	OldDockerfile string `json:"dockerFile"`
	OldContext    string `json:"context"`
}

// followed are the keys that are read or that do not concern an image.
var followed = []string{"image", "build", "dockerFile", "context", "name", "$schema", "customizations", "forwardPorts", "portsAttributes", "remoteUser", "containerUser"}

// ReadDevcontainer reads the devcontainer.json of a directory, or the one in its .devcontainer. Paths in it are relative
// to the file, and none may leave the directory: a repository does not choose which files of this machine go into an
// image. Variables of the host ("${localEnv:…}") are refused for the same reason.
func ReadDevcontainer(dir string) (Devcontainer, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Devcontainer{}, fmt.Errorf("read devcontainer.json: %w", err)
	}
	defer func() { _ = root.Close() }() // nothing was written
	for _, name := range devcontainerPaths {
		data, err := readSmall(root, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return Devcontainer{}, fmt.Errorf("read %s: %w", name, err)
		}
		return parseDevcontainer(dir, name, data)
	}
	return Devcontainer{}, fmt.Errorf("%s has neither %s: %w", dir, strings.Join(devcontainerPaths, " nor "), fs.ErrNotExist)
}

func readSmall(root *os.Root, name string) ([]byte, error) {
	if fi, err := root.Lstat(name); err != nil {
		return nil, err
	} else if !fi.Mode().IsRegular() || fi.Size() > maxDevcontainer {
		return nil, fmt.Errorf("no regular file of at most %d bytes", maxDevcontainer)
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxDevcontainer))
}

func parseDevcontainer(dir, name string, data []byte) (Devcontainer, error) {
	plain, err := hujson.Standardize(data)
	if err != nil {
		return Devcontainer{}, &FieldError{name, "", "is no JSON, not even with comments: " + err.Error()}
	}
	var all map[string]json.RawMessage
	var read devcontainerFile
	if err := errors.Join(json.Unmarshal(plain, &all), json.Unmarshal(plain, &read)); err != nil {
		return Devcontainer{}, &FieldError{name, "", "cannot be read: " + plainReason(err)}
	}
	d := Devcontainer{File: name, Image: read.Image}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if !slices.Contains(followed, key) {
			d.Unused = append(d.Unused, key)
		}
	}
	dockerfile, context := read.OldDockerfile, read.OldContext
	src := Source{}
	if read.Build != nil {
		dockerfile, context = read.Build.Dockerfile, read.Build.Context
		src.Target, src.Args = read.Build.Target, read.Build.Args
	}
	switch {
	case dockerfile != "" && d.Image != "":
		return d, &FieldError{name, "/image", "stands beside a Dockerfile: one of them is the image"}
	case dockerfile == "" && d.Image == "":
		return d, &FieldError{name, "", `has neither "image" nor "build.dockerfile"; containers of Docker Compose are not supported`}
	case dockerfile == "":
		return d, noVariable(name, "/image", d.Image)
	}
	for _, arg := range slices.Sorted(maps.Keys(src.Args)) {
		if err := noVariable(name, "/build/args/"+arg, src.Args[arg]); err != nil {
			return d, err
		}
	}
	below := path.Join(path.Dir(name), context) // below the directory
	file := path.Join(path.Dir(name), dockerfile)
	if err := errors.Join(inside(name, "/build/context", context, below), inside(name, "/build/dockerfile", dockerfile, file)); err != nil {
		return d, err
	}
	relative, err := filepath.Rel(filepath.FromSlash(below), filepath.FromSlash(file))
	if err != nil || strings.HasPrefix(relative, "..") {
		return d, &FieldError{name, "/build/dockerfile", fmt.Sprintf("%s is outside of the build context %s", file, below)}
	}
	// A link on the way to the context could lead anywhere.
	src.Dir, err = resolveBelow(dir, below)
	if err != nil {
		return d, &FieldError{name, "/build/context", err.Error()}
	}
	src.Dockerfile = filepath.ToSlash(relative)
	d.Build = &src
	return d, nil
}

// inside refuses a path that leaves the directory, or that has variables.
func inside(file, field, written, joined string) error {
	if err := noVariable(file, field, written); err != nil {
		return err
	}
	if path.IsAbs(written) || !filepath.IsLocal(filepath.FromSlash(joined)) && joined != "." {
		return &FieldError{file, field, fmt.Sprintf("%q leads out of the directory", written)}
	}
	return nil
}

func noVariable(file, field, value string) error {
	if strings.Contains(value, "${") {
		return &FieldError{file, field, fmt.Sprintf("%q has a variable, and variables are not replaced", value)}
	}
	return nil
}

// resolveBelow follows the links of a path below dir, which must not lead out of it.
func resolveBelow(dir, below string) (string, error) {
	top, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	full, err := filepath.EvalSymlinks(filepath.Join(top, filepath.FromSlash(below)))
	if err != nil {
		return "", err
	}
	if relative, err := filepath.Rel(top, full); err != nil || relative != "." && !filepath.IsLocal(relative) {
		return "", errors.New("a link leads out of the directory")
	}
	return full, nil
}

// plainReason says what is wrong without types of Go.
func plainReason(err error) string {
	if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Sprintf("%q is a %s", kind.Field, kind.Value)
	}
	return err.Error()
}
