package websession

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"
)

func open(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestACodeGivesATokenOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	code := s.NewCode()
	token, one, err := s.Login(code, "Browser \xff\u202e"+strings.Repeat("x", 1000))
	if err != nil || len(one.Label) > maxLabel+20 {
		t.Fatalf("%+v, %v", one, err)
	}
	if _, _, err := s.Login(code, ""); !errors.Is(err, ErrCode) {
		t.Errorf("again: %v", err)
	}
	if id, ok := s.Check(token); !ok || id != one.ID {
		t.Errorf("%q, %t", id, ok)
	}
	for _, wrong := range []string{"", token[:63], strings.ToUpper(token), token + "0", code, one.ID} {
		if _, ok := s.Check(wrong); ok && wrong != token {
			t.Errorf("%q is a token", wrong)
		}
	}
	text, err := os.ReadFile(pathIn(dir))
	fi, ferr := os.Stat(pathIn(dir))
	if err := errors.Join(err, ferr); err != nil || strings.Contains(string(text), token) || fi.Mode().Perm() != 0o600 {
		t.Errorf("stored: %v", err)
	}
	again := open(t, dir) // the server was started anew
	if _, ok := again.Check(token); !ok {
		t.Error("a new server does not know the page")
	}
	revoked := again.Revoked(one.ID)
	if err := again.Revoke(one.ID); err != nil {
		t.Fatal(err)
	}
	<-revoked
	<-again.Revoked(one.ID)
	if _, ok := again.Check(token); ok || !errors.Is(again.Revoke(one.ID), fs.ErrNotExist) || len(again.List()) != 0 {
		t.Error("a token that was taken back is good")
	}
	if _, ok := open(t, dir).Check(token); ok {
		t.Error("a token that was taken back is good after a restart")
	}
}

func TestCodesTokensAndTriesHaveTheirTime(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	now := time.Now()
	s.now = func() time.Time { return now }
	old := s.NewCode()
	now = now.Add(CodeLimit + time.Second)
	if _, _, err := s.Login(old, ""); !errors.Is(err, ErrCode) {
		t.Error(err)
	}
	for range MaxTries - 1 {
		if _, _, err := s.Login("guess", ""); !errors.Is(err, ErrCode) {
			t.Error(err)
		}
	}
	good := s.NewCode()
	if _, _, err := s.Login(good, ""); !errors.Is(err, ErrTries) {
		t.Error(err)
	}
	now = now.Add(61 * time.Second)
	token, _, err := s.Login(good, "")
	if err != nil {
		t.Fatal(err)
	}
	now = now.Add(IdleLimit - time.Hour)
	if _, ok := s.Check(token); !ok {
		t.Error("expired early")
	}
	now = now.Add(IdleLimit + time.Second)
	if _, ok := s.Check(token); ok {
		t.Error("not expired")
	}
	for range 3 * maxCodes {
		s.NewCode()
	}
	if len(s.codes) > maxCodes {
		t.Errorf("%d codes", len(s.codes))
	}
	for range maxSessions + 5 {
		now = now.Add(time.Second)
		if _, _, err := s.Login(s.NewCode(), ""); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(s.List()); n != maxSessions {
		t.Errorf("%d sessions", n)
	}
}

func TestADamagedFileIsAnErrorOfInput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(pathIn(dir), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Error(err)
	}
	if err := errors.Join(Clear(dir), Clear(dir)); err != nil {
		t.Error(err)
	}
	open(t, dir)
}
