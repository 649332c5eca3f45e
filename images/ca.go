package images

import (
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// maxCABundle bounds the CA bundle in bytes; the usual one has 220 kB.
const maxCABundle = 8 << 20

// bundlePaths are where distributions keep their CA bundle, in the order of Go's crypto/x509 (root_linux.go).
var bundlePaths = []string{
	"/etc/ssl/certs/ca-certificates.crt",
	"/etc/pki/tls/certs/ca-bundle.crt",
	"/etc/ssl/ca-bundle.pem",
	"/etc/pki/tls/cacert.pem",
	"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
	"/etc/ssl/cert.pem",
}

// HostCABundle returns the authorities this host trusts, as PEM: the file that SSL_CERT_FILE names, else the first
// bundle of the distribution, else nothing. An unreadable named file, or one without PEM, is an error: the build would
// fail later with a message about certificates.
func HostCABundle(getenv func(string) string) ([]byte, error) {
	if path := getenv("SSL_CERT_FILE"); path != "" {
		bundle, err := readBundle(path)
		if err != nil {
			return nil, fmt.Errorf("read CA bundle of SSL_CERT_FILE: %w", err)
		}
		return bundle, nil
	}
	for _, path := range bundlePaths {
		bundle, err := readBundle(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read CA bundle: %w", err)
		}
		return bundle, nil
	}
	return nil, nil
}

// HostCAPath is the absolute path of the file HostCABundle would read, without reading it: a missing named file is
// skipped. It is "" when the host has none.
func HostCAPath(getenv func(string) string) string {
	for _, path := range append([]string{getenv("SSL_CERT_FILE")}, bundlePaths...) {
		if fi, err := os.Stat(path); err == nil && fi.Mode().IsRegular() && filepath.IsAbs(path) {
			return path
		}
	}
	return ""
}

func readBundle(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	bundle, err := io.ReadAll(io.LimitReader(f, maxCABundle+1))
	if err != nil {
		return nil, err
	}
	if len(bundle) > maxCABundle {
		return nil, fmt.Errorf("%s is larger than %d bytes", path, maxCABundle)
	}
	if block, _ := pem.Decode(bundle); block == nil {
		return nil, fmt.Errorf("%s contains no PEM certificate", path)
	}
	return bundle, nil
}
