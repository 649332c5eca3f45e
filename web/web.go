// Package web is the page of the server: the built files, embedded. They follow from the sources beside them; package
// web/bundle makes them, and its tests compare both.
package web

import (
	"embed"
	"io/fs"
)

//go:embed dist
var dist embed.FS

// Files returns the files of the page: index.html at the root, what it loads below assets/. The names below assets/ change
// with the content.
func Files() fs.FS {
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // the name is a constant
	}
	return files
}
