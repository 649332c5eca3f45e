package docker

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/docker/docker/api/types/mount"
)

// hostname is the name every box gives itself.
const hostname = "sandbox"

// etcFiles replace the engine's own in every box: with its network disabled the engine leaves /etc/hosts empty, and a
// missing resolver must fail at once.
var etcFiles = map[string]string{
	"hosts":       "127.0.0.1\tlocalhost " + hostname + "\n::1\tlocalhost ip6-localhost ip6-loopback\n",
	"hostname":    hostname + "\n",
	"resolv.conf": "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n",
}

// etcMounts writes the files to dir, unless they exist, and returns their read-only binds. They are the same for all
// boxes, so a crash leaves nothing to remove.
func etcMounts(dir string) ([]mount.Mount, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("files for /etc: %w", err)
	}
	var mounts []mount.Mount
	for _, name := range []string{"hostname", "hosts", "resolv.conf"} {
		path := filepath.Join(dir, name)
		if err := writeOnce(path, etcFiles[name]); err != nil {
			return nil, fmt.Errorf("files for /etc: %w", err)
		}
		mounts = append(mounts, readOnly(path, "/etc/"+name))
	}
	return mounts, nil
}

// writeOnce makes path hold text. It replaces by rename because a box may have the old file mounted.
func writeOnce(path, text string) error {
	if old, err := os.ReadFile(path); err == nil && string(old) == text {
		return nil
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // already renamed on success
	if _, err := f.WriteString(text); err != nil {
		f.Close()
		return err
	}
	if err := f.Chmod(0o444); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
