package endpoint

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sandboxrun/runner/document"
)

func TestTokenIsMadeOnceAndKeptPrivate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := Token(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a token before any server: %v", err)
	}
	first, err := MakeToken(dir, false)
	if err != nil || !regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(first) {
		t.Fatalf("%q, %v", first, err)
	}
	path := filepath.Join(dir, "token")
	if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", fi.Mode(), err)
	}
	if again, err := MakeToken(dir, false); again != first || err != nil {
		t.Errorf("the token changed: %v", err)
	}
	if renewed, err := MakeToken(dir, true); renewed == first || err != nil {
		t.Errorf("the token was not renewed: %v", err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := MakeToken(dir, false); err == nil {
		t.Error("a token that others can read is used")
	}
	if err := os.WriteFile(path, []byte("short\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := MakeToken(dir, false); err == nil || !strings.Contains(err.Error(), "holds no token") {
		t.Errorf("a damaged token: %v", err)
	}
}

func TestOneServerUsesAStateDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	release, err := Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := Announce(dir, Endpoint{URL: "http://127.0.0.1:1", PID: 7}); err != nil {
		t.Fatal(err)
	}
	_, err = Lock(dir)
	if bad, ok := errors.AsType[*document.InputError](err); !ok || !strings.Contains(bad.Message, "process 7, http://127.0.0.1:1") {
		t.Errorf("a second server: %v", err)
	}
	if err := errors.Join(Withdraw(dir), Withdraw(dir), release()); err != nil {
		t.Error(err)
	}
	if _, err := Find(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the announcement is still there: %v", err)
	}
	release, err = Lock(dir)
	if err != nil {
		t.Fatalf("after the first has ended: %v", err)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
}
