// Package skill holds the Claude Code skill and plugin, embedded, and installs them: all files or none, and over no file that
// a person has changed.
package skill

import (
	"embed"
	"io/fs"
	"path"
	"strings"
)

//go:embed droid-executor plugin/.claude-plugin plugin/.mcp.json
var files embed.FS

// DefaultName is the skill's own name; it is the directory's, too.
const DefaultName = "droid-executor"

// File is one file to install.
type File struct {
	Path string // relative to the root of the installation, with slashes
	Data []byte
}

// Files are those of the skill under a name, below a directory "" or one that ends in a slash.
func Files(name, below string) []File {
	var list []File
	for _, f := range tree(DefaultName) {
		if f.Path == "SKILL.md" && name != DefaultName {
			f.Data = []byte(strings.Replace(string(f.Data), "name: "+DefaultName, "name: "+name, 1))
		}
		list = append(list, File{below + name + "/" + f.Path, f.Data})
	}
	return list
}

// Plugin are the files of a plugin that has the skill and the MCP server, and of a marketplace that offers it.
func Plugin(name, version string) []File {
	list := tree("plugin")
	for i := range list {
		if path.Base(list[i].Path) == "plugin.json" {
			list[i].Data = []byte(strings.Replace(string(list[i].Data), `"version": "0.0.0"`, `"version": "`+version+`"`, 1))
		}
	}
	return append(list, Files(name, "skills/")...)
}

// tree lists the embedded files below a directory.
func tree(dir string) []File {
	var list []File
	err := fs.WalkDir(files, dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := files.ReadFile(p)
		list = append(list, File{strings.TrimPrefix(p, dir+"/"), data})
		return err
	})
	if err != nil {
		panic(err) // embedded at build time
	}
	return list
}
