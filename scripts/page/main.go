// Command page builds the page of the server from web/src into web/dist, which is committed.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"sandboxrun/web/bundle"
)

func main() {
	if err := build("web"); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func build(web string) error {
	files, err := bundle.Build(web)
	if err != nil {
		return err
	}
	// Only now: a build that fails leaves the last one.
	dist := filepath.Join(web, "dist")
	if err := os.RemoveAll(dist); err != nil {
		return err
	}
	for name, content := range files {
		to := filepath.Join(dist, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, content, 0o644); err != nil {
			return err
		}
		fmt.Printf("%8d  %s\n", len(content), filepath.ToSlash(to))
	}
	return nil
}
