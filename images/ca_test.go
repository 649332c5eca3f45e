package images

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

const certificate = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"

func certFile(path string) func(string) string {
	return func(name string) string {
		if name == "SSL_CERT_FILE" {
			return path
		}
		return ""
	}
}

func TestHostCABundleReadsTheNamedFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(path, []byte(certificate), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := HostCABundle(certFile(path))
	if err != nil || string(got) != certificate {
		t.Errorf("HostCABundle() = %q, %v", got, err)
	}
}

func TestHostCABundleRefusesANamedFileItCannotUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := HostCABundle(certFile(filepath.Join(dir, "absent"))); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent file: %v, want not exist", err)
	}
	for name, size := range map[string]int64{"no PEM": 100, "endless": maxCABundle + 1} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(certificate[:10]), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
		if got, err := HostCABundle(certFile(path)); err == nil {
			t.Errorf("%s: got %d bytes, want an error", name, len(got))
		}
	}
}

func TestHostCAPathIsTheFileHostCABundleReads(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := HostCAPath(certFile(path)); got != path {
		t.Errorf("HostCAPath() = %q, want the named file", got)
	}
	if got := HostCAPath(certFile(path + ".absent")); got == path+".absent" || got != HostCAPath(certFile("")) {
		t.Errorf("HostCAPath() = %q for a missing named file", got)
	}
}
