package doctor

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"sandboxrun/images"
)

// What counting the state directory may take. A base of a large repository alone has a million files.
const (
	maxCounted = 300_000
	countTime  = 5 * time.Second
)

// rooms are the parts of the state directory that grow, and what makes each smaller.
var rooms = []struct{ dir, what string }{
	{"runs", "runs"}, {"sessions", "sessions"}, {filepath.Join("bases", "bases"), "bases"}, {filepath.Join("bases", "stores"), "objects"}, {"work", "live trees"},
}

// checkSizes says what takes how much room. It is never a failure: checkDisk judges what is left.
func checkSizes(ctx context.Context, x *Examination) Finding {
	if x.StateErr != nil {
		return Caution("", "not checked: no state directory")
	}
	ctx, cancel := context.WithTimeout(ctx, countTime)
	defer cancel()
	c := counter{left: maxCounted}
	var parts []string
	for _, r := range rooms {
		entries, bytes, all := c.room(ctx, filepath.Join(x.State.Dir(), r.dir))
		text := fmt.Sprintf("%d %s %s", entries, r.what, megabytes(bytes))
		if !all {
			text = fmt.Sprintf("%d %s more than %s", entries, r.what, megabytes(bytes))
		}
		if entries > 0 {
			parts = append(parts, text)
		}
	}
	if n, bytes := imagesSize(ctx, x); n > 0 {
		parts = append(parts, fmt.Sprintf("%d images up to %s, with parts in common", n, megabytes(bytes)))
	}
	if len(parts) == 0 {
		return Pass("nothing yet")
	}
	return Pass("%s (\"sandboxrun runs prune\" and \"sandboxrun image prune\" free room; bases go when unused for 30 days)", strings.Join(parts, ", "))
}

// imagesSize counts the images that this program built; none where the engine does not say.
func imagesSize(ctx context.Context, x *Examination) (n int, bytes int64) {
	if x.EngineErr(ctx) != nil {
		return 0, 0
	}
	list, err := x.Engine.Images(ctx, images.InputsLabel)
	if err != nil {
		return 0, 0
	}
	for _, i := range list {
		bytes += i.Bytes
	}
	return len(list), bytes
}

// counter counts files within one bound for all directories. Boxes have written some of them: none is opened or followed.
type counter struct{ left int }

// room counts the entries of a directory, and the bytes on disk of everything below it; all is false when a bound was reached.
func (c *counter) room(ctx context.Context, dir string) (entries int, bytes int64, all bool) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return 0, 0, true // not there, or not ours to read: nothing to tell
	}
	all = true
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error { // what cannot be read has no size
		if c.left--; c.left < 0 || ctx.Err() != nil {
			all = false
			return fs.SkipAll
		}
		if err != nil {
			return nil //nolint:nilerr // it may have been removed meanwhile
		}
		info, err := d.Info()
		if err != nil {
			return nil //nolint:nilerr // likewise
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok {
			bytes += st.Blocks * 512
		}
		return nil
	})
	return len(list), bytes, all
}

func megabytes(n int64) string {
	if n >= 10e9 {
		return fmt.Sprintf("%.0f GB", float64(n)/1e9)
	}
	return fmt.Sprintf("%.0f MB", float64(n)/1e6)
}
