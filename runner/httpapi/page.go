package httpapi

import (
	"bytes"
	"compress/gzip"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"

	"sandboxrun/web"
)

// pagePolicy forbids the page everything that it does not need: scripts and styles in the page itself, connections to
// others, frames, and markup or code made from text.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; " +
	"form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// pageFile is one file of the page. All are constant: they tell nothing about this machine, and need no token.
type pageFile struct {
	kind          string
	plain, zipped []byte
	forever       bool // its name changes with its content
}

// pageTypes are the media types of the page's files. A browser refuses them under any other.
var pageTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".svg": "image/svg+xml", ".txt": "text/plain; charset=utf-8",
}

// pageFiles are the files of the page by their paths on the server.
var pageFiles = sync.OnceValue(func() map[string]pageFile {
	files := map[string]pageFile{}
	err := fs.WalkDir(web.Files(), ".", func(name string, d fs.DirEntry, err error) error {
		kind := pageTypes[path.Ext(name)]
		if err != nil || d.IsDir() || kind == "" {
			return err
		}
		content, err := fs.ReadFile(web.Files(), name)
		if err != nil {
			return err
		}
		at := "/" + name
		if name == "index.html" {
			at = "/"
		}
		files[at] = pageFile{kind, content, zip(content), strings.HasPrefix(name, "assets/")}
		return nil
	})
	if err != nil {
		panic(err) // they are part of the program
	}
	return files
})

func zip(content []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(content) // memory takes everything
	_ = w.Close()
	return out.Bytes()
}

// pagePaths are the paths of the page, which need no token.
func pagePaths() []string {
	var paths []string
	for at := range pageFiles() {
		paths = append(paths, at)
	}
	return paths
}

func (s *Server) pageRoutes() {
	for at, file := range pageFiles() {
		pattern := "GET " + at
		if at == "/" {
			pattern = "GET /{$}"
		}
		s.mux.HandleFunc(pattern, file.serve)
	}
}

func (f pageFile) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Embedder-Policy", "require-corp")
	h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=(), usb=(), payment=()")
	h.Set("Vary", "Accept-Encoding")
	if f.forever {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	} else {
		h.Set("Cache-Control", "no-cache")
	}
	content := f.plain
	if acceptsGzip(r) {
		h.Set("Content-Encoding", "gzip")
		content = f.zipped
	}
	h.Set("Content-Length", strconv.Itoa(len(content)))
	_, _ = w.Write(content) // the caller may have hung up
}

// acceptsGzip reports whether a caller names gzip without refusing it.
func acceptsGzip(r *http.Request) bool {
	for coding := range strings.SplitSeq(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",") {
		name, weight, _ := strings.Cut(strings.ReplaceAll(coding, " ", ""), ";")
		if strings.EqualFold(name, "gzip") {
			return strings.Trim(strings.TrimPrefix(weight, "q="), "0.") != "" || weight == ""
		}
	}
	return false
}
