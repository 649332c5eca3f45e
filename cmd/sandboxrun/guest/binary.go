// Package guest finds the program that is the main process of every box: this very program, started with Command.
package guest

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"sandboxrun/runner/program"
)

// errNotStatic is why this program cannot be the main process of a box.
var errNotStatic = errors.New("is linked dynamically and would not start in an arbitrary image; " +
	"build it with CGO_ENABLED=0 (make build)")

// Command is the hidden command of this program that a box's main process runs.
const Command = "guest"

// Binary returns the path of this very program's file, to be mounted in every
// box. It fails where the file needs a loader that an image may lack.
func Binary() (string, error) {
	path, err := os.Executable()
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return "", fmt.Errorf("find this program's own file: %w", err)
	}
	if err := checkStatic(path); err != nil {
		return "", fmt.Errorf("this program's file %s %w", path, err)
	}
	return path, nil
}

// Running returns a path of the file this process was started from that stays right when another file takes its name.
// It fails where the file needs a loader that an image may lack.
func Running() (string, error) {
	if err := checkStatic(program.Running); err != nil {
		return "", fmt.Errorf("this program's file %w", err)
	}
	return program.Running, nil
}

// checkStatic reports whether path is a program that needs no loader: an ELF
// file without a PT_INTERP segment.
func checkStatic(path string) error {
	f, err := elf.Open(path)
	if err != nil {
		return fmt.Errorf("cannot be read as a Linux program: %w", err)
	}
	defer func() { _ = f.Close() }() // nothing was written
	for _, prog := range f.Progs {
		if prog.Type == elf.PT_INTERP {
			return errNotStatic
		}
	}
	return nil
}
