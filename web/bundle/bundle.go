// Package bundle makes the files of the page from their sources with esbuild. It needs the libraries of
// web/package-lock.json below web/node_modules, and no node. Nothing of the program imports it: what it makes is
// committed.
package bundle

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// ErrNoLibraries says that web/node_modules lacks a library, or has it in another version than the lock file.
var ErrNoLibraries = errors.New("the libraries of the page are not set up")

// Bytes are the bytes of a file, by its slash-separated name.
type Bytes map[string][]byte

// Build makes all files of the page from the directory web, which has src, package-lock.json and node_modules.
func Build(web string) (Bytes, error) {
	web, err := filepath.Abs(web)
	if err != nil {
		return nil, err
	}
	libraries, err := lockedLibraries(web)
	if err != nil {
		return nil, err
	}
	licences, err := licencesOf(web, libraries)
	if err != nil {
		return nil, err
	}
	out := Bytes{"LICENSES.txt": licences}
	script, style, err := compile(web)
	if err != nil {
		return nil, err
	}
	icon, err := os.ReadFile(filepath.Join(web, "src", "icon.svg"))
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	for kind, content := range map[string][]byte{"page.js": script, "page.css": style, "icon.svg": icon} {
		names[kind] = addHashed(out, kind, content)
	}
	page, err := os.ReadFile(filepath.Join(web, "src", "index.html"))
	if err != nil {
		return nil, err
	}
	text := string(page)
	for kind, name := range names {
		text = strings.ReplaceAll(text, "/assets/"+kind, "/"+name)
	}
	out["index.html"] = []byte(text)
	sum, err := SourceSum(web)
	if err != nil {
		return nil, err
	}
	manifest, err := json.MarshalIndent(Manifest{Sources: sum}, "", "  ")
	if err != nil {
		return nil, err
	}
	out["manifest.json"] = append(manifest, '\n')
	return out, nil
}

// Manifest says what the built files were made from.
type Manifest struct {
	Sources string `json:"sources"` // SourceSum
}

// SourceSum is a digest over everything that decides the built files and lies in the repository.
func SourceSum(web string) (string, error) {
	sum := sha256.New()
	add := func(name string) error {
		content, err := os.ReadFile(filepath.Join(web, filepath.FromSlash(name)))
		fmt.Fprintf(sum, "%s %d\n", name, len(content))
		_, _ = sum.Write(content) // a hash takes everything
		return err
	}
	if err := add("package-lock.json"); err != nil {
		return "", err
	}
	err := fs.WalkDir(os.DirFS(web), "src", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return add(name)
	})
	return hex.EncodeToString(sum.Sum(nil)), err
}

// compile bundles the script and the style sheet.
func compile(web string) (script, style []byte, err error) {
	result := api.Build(api.BuildOptions{
		AbsWorkingDir: web, EntryPoints: []string{"src/page.tsx"}, Outdir: "out",
		Bundle: true, Format: api.FormatESModule, Platform: api.PlatformBrowser, Target: api.ES2022, Charset: api.CharsetASCII,
		MinifySyntax: true, MinifyWhitespace: true, MinifyIdentifiers: true, LegalComments: api.LegalCommentsNone,
		JSX: api.JSXAutomatic, JSXImportSource: "preact", TsconfigRaw: `{"compilerOptions":{"strict":true}}`, LogLevel: api.LogLevelSilent,
	})
	for _, m := range result.Errors {
		where := ""
		if m.Location != nil {
			where = fmt.Sprintf("%s:%d: ", m.Location.File, m.Location.Line)
		}
		err = errors.Join(err, errors.New(where+m.Text))
	}
	if err != nil {
		return nil, nil, fmt.Errorf("bundle the page: %w", err)
	}
	for _, f := range result.OutputFiles {
		switch path.Ext(f.Path) {
		case ".js":
			script = f.Contents
		case ".css":
			style = f.Contents
		}
	}
	if script == nil || style == nil {
		return nil, nil, errors.New("bundle the page: no script or no style sheet came out")
	}
	return script, style, nil
}

// addHashed stores a file below assets under a name that changes with its content.
func addHashed(out Bytes, name string, content []byte) string {
	sum := sha256.Sum256(content)
	ext := path.Ext(name)
	hashed := "assets/" + strings.TrimSuffix(name, ext) + "-" + hex.EncodeToString(sum[:5]) + ext
	out[hashed] = content
	return hashed
}
