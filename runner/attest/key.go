package attest

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"
	"github.com/secure-systems-lab/go-securesystemslib/signerverifier"

	"sandboxrun/runner/document"
)

// Names in the directory of the key.
const (
	keyFile    = "ed25519"
	publicFile = "ed25519.pub"
)

// maxKeyFile bounds a key file, in bytes.
const maxKeyFile = 4 << 10

// PublicKeyPath is the file of the public key in the directory that Key got.
func PublicKeyPath(dir string) string { return filepath.Join(dir, publicFile) }

// Key returns the key of this state directory, which signs results. The first caller makes it: an ed25519 key in PEM,
// readable by its owner only, with the public key beside it.
func Key(dir string) (dsse.SignerVerifier, error) {
	path := filepath.Join(dir, keyFile)
	key, err := load(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = makeKey(dir); err == nil {
			key, err = load(path)
		}
	}
	if err == nil {
		err = showPublic(dir, key)
	}
	if err != nil {
		return nil, fmt.Errorf("key for results: %w", err)
	}
	return key, nil
}

// PublicKey reads the PEM file of a public key.
func PublicKey(path string) (dsse.Verifier, error) {
	key, err := load(path)
	if err != nil {
		return nil, fmt.Errorf("public key: %w", err)
	}
	return key, nil
}

func load(path string) (dsse.SignerVerifier, error) {
	text, err := document.ReadSmall(path, maxKeyFile)
	if err != nil {
		return nil, err
	}
	key, err := signerverifier.LoadKey(text)
	if err != nil || key.KeyType != signerverifier.ED25519KeyType {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("it is no ed25519 key in PEM")}
	}
	return signerverifier.NewED25519SignerVerifierFromSSLibKey(key)
}

// makeKey makes a key. Of several processes that do so at once, the first to link its file decides.
func makeKey(dir string) error {
	_, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		return err
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	err = putFirst(filepath.Join(dir, keyFile), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// showPublic writes the public key beside the key where it is missing.
func showPublic(dir string, key dsse.Verifier) error {
	if _, err := os.Lstat(PublicKeyPath(dir)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return err
	}
	err = putFirst(PublicKeyPath(dir), pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// putFirst writes a file that appears whole, and fails with fs.ErrExist where there is one.
func putFirst(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Link(f.Name(), path)
	}
	return errors.Join(err, os.Remove(f.Name()))
}
