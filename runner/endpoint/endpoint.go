// Package endpoint is how a server and its callers find each other: files in the state directory that name the server,
// hold its token, and let only one server use the directory.
package endpoint

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"

	"sandboxrun/runner/document"
)

// Endpoint is the content of serve.json: where the server listens.
type Endpoint struct {
	URL       string    `json:"url"`              // without a slash at its end
	Socket    string    `json:"socket,omitempty"` // path of the unix socket, "" for none
	PID       int       `json:"pid"`
	Build     string    `json:"build"` // version of the program
	StartedAt time.Time `json:"started_at"`
}

// tokenBytes is the length of a token before it is written in hexadecimal.
const tokenBytes = 32

func tokenPath(stateDir string) string    { return filepath.Join(stateDir, "token") }
func endpointPath(stateDir string) string { return filepath.Join(stateDir, "serve.json") }

// Token reads the token of the state directory. fs.ErrNotExist says that no server has run there yet.
func Token(stateDir string) (string, error) {
	data, err := document.ReadPrivate(tokenPath(stateDir), 1024)
	if err != nil {
		return "", fmt.Errorf("read the server's token: %w", err)
	}
	token := strings.TrimSuffix(string(data), "\n")
	if raw, err := hex.DecodeString(token); err != nil || len(raw) != tokenBytes || strings.ToLower(token) != token {
		return "", &document.InputError{Message: tokenPath(stateDir) + " holds no token", Hint: "make a new one with sandboxrun serve --new-token"}
	}
	return token, nil
}

// MakeToken reads the token, and makes one where none is or where a new one is asked for. Whoever holds the lock of the
// server may call it.
func MakeToken(stateDir string, renew bool) (string, error) {
	if !renew {
		if token, err := Token(stateDir); !errors.Is(err, fs.ErrNotExist) {
			return token, err
		}
	}
	raw := make([]byte, tokenBytes)
	_, _ = rand.Read(raw) // never fails: crypto/rand aborts the program instead
	token := hex.EncodeToString(raw)
	if err := renameio.WriteFile(tokenPath(stateDir), []byte(token+"\n"), 0o600, renameio.IgnoreUmask()); err != nil {
		return "", fmt.Errorf("write the server's token: %w", err)
	}
	return token, nil
}

// lockPatience is how long the lock of another process is awaited.
const lockPatience = 300 * time.Millisecond

// Lock makes this process the only server of the state directory until the returned function is called. Another server
// gives an *InputError.
func Lock(stateDir string) (release func() error, err error) {
	l := flock.New(filepath.Join(stateDir, "serve.lock"), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	// Whoever looks whether there is a server holds it for a moment.
	wait, cancel := context.WithTimeout(context.Background(), lockPatience) //nolint:forbidigo // shorter than anybody waits
	defer cancel()
	got, err := l.TryLockContext(wait, lockPatience/20)
	if err != nil && wait.Err() == nil {
		return nil, fmt.Errorf("lock the server's state: %w", err)
	}
	if !got {
		message := "a server already uses the state directory " + stateDir
		if e, err := Find(stateDir); err == nil {
			message += fmt.Sprintf(" (process %d, %s)", e.PID, e.URL)
		}
		return nil, errors.Join(&document.InputError{Message: message, Hint: "stop it first, or set SANDBOXRUN_STATE_DIR"}, l.Close())
	}
	return l.Close, nil
}

// Announce tells callers where the server is. It replaces what a server that died has left.
func Announce(stateDir string, e Endpoint) error {
	doc, err := document.Encode(e)
	if err != nil {
		return fmt.Errorf("announce the server: %w", err)
	}
	if err := renameio.WriteFile(endpointPath(stateDir), doc, 0o600, renameio.IgnoreUmask()); err != nil {
		return fmt.Errorf("announce the server: %w", err)
	}
	return nil
}

// Withdraw takes the announcement back.
func Withdraw(stateDir string) error {
	if err := os.Remove(endpointPath(stateDir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("withdraw the announcement of the server: %w", err)
	}
	return nil
}

// Find reads where the server of the state directory is, or was if it was killed. fs.ErrNotExist says that there is none.
func Find(stateDir string) (Endpoint, error) {
	data, err := document.ReadPrivate(endpointPath(stateDir), 64<<10)
	if err != nil {
		return Endpoint{}, fmt.Errorf("find the server: %w", err)
	}
	var e Endpoint
	if err := json.Unmarshal(data, &e); err != nil {
		return Endpoint{}, fmt.Errorf("find the server: %s: %w", endpointPath(stateDir), err)
	}
	return e, nil
}
