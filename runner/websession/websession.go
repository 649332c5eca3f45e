// Package websession signs pages in: one-time codes are exchanged for tokens that a page keeps, which can be listed and
// taken back. Of a token only its digest is stored.
package websession

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/renameio/v2"

	"sandboxrun/runner/document"
	"sandboxrun/runner/excerpt"
)

const (
	// IdleLimit is how long a token that is not used is good for.
	IdleLimit = 30 * 24 * time.Hour
	// CodeLimit is how long a code can be exchanged.
	CodeLimit = 90 * time.Second
	// MaxTries bounds the wrong codes of a minute.
	MaxTries = 5

	maxSessions = 100 // the one that was not used for the longest time goes first
	maxCodes    = 20
	maxFile     = 1 << 20
	maxLabel    = 200 // bytes
	saveEvery   = time.Minute
)

// Session is one signed-in page.
type Session struct {
	ID         string    `json:"id"`
	Label      string    `json:"label"` // what the browser calls itself
	CreatedAt  time.Time `json:"created_at"`
	LastUsedAt time.Time `json:"last_used_at"`
}

// kept is a session as it is stored.
type kept struct {
	Session
	Digest string `json:"sha256"` // of the token, in hexadecimal
}

// file is web-sessions.json.
type file struct {
	SchemaVersion int    `json:"schema_version"`
	Sessions      []kept `json:"sessions"`
}

const version = 1

// Store is the sessions of a state directory. One server has it; it is safe for concurrent use.
type Store struct {
	path string
	now  func() time.Time

	mu       sync.Mutex
	sessions map[string]*entry // by digest
	codes    map[string]time.Time
	tries    []time.Time // of wrong codes
	saved    time.Time
}

type entry struct {
	Session
	revoked chan struct{}
}

// Errors of [Store.Login].
var (
	ErrCode  = errors.New("the code is wrong, was used, or is too old")
	ErrTries = errors.New("too many wrong codes")
)

func pathIn(stateDir string) string { return filepath.Join(stateDir, "web-sessions.json") }

// Open reads the sessions of a state directory. A damaged file is an error: to lose it is to sign every page out.
func Open(stateDir string) (*Store, error) {
	s := &Store{path: pathIn(stateDir), now: time.Now, sessions: map[string]*entry{}, codes: map[string]time.Time{}}
	data, err := document.ReadPrivate(s.path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read page sessions: %w", err)
	}
	var f file
	if err := json.Unmarshal(data, &f); err != nil || f.SchemaVersion != version {
		return nil, &document.InputError{Message: s.path + " cannot be read", Hint: "remove it; every page has to sign in again then"}
	}
	for _, k := range f.Sessions {
		s.sessions[k.Digest] = &entry{Session: k.Session, revoked: make(chan struct{})}
	}
	return s, nil
}

// Clear signs every page of a state directory out. No server may be running.
func Clear(stateDir string) error {
	if err := os.Remove(pathIn(stateDir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove page sessions: %w", err)
	}
	return nil
}

func secret(bytes int) string {
	raw := make([]byte, bytes)
	_, _ = rand.Read(raw) // never fails: crypto/rand aborts the program instead
	return hex.EncodeToString(raw)
}

func digest(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// NewCode makes a code that can be exchanged once, soon.
func (s *Store) NewCode() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	oldest, at := "", time.Time{}
	for code, until := range s.codes {
		if now.After(until) {
			delete(s.codes, code)
		} else if oldest == "" || until.Before(at) {
			oldest, at = code, until
		}
	}
	if len(s.codes) >= maxCodes {
		delete(s.codes, oldest)
	}
	code := secret(16)
	s.codes[digest(code)] = now.Add(CodeLimit)
	return code
}

// Login exchanges a code for a token. label is what the browser calls itself.
func (s *Store) Login(code, label string) (token string, one Session, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	s.tries = slices.DeleteFunc(s.tries, func(at time.Time) bool { return now.Sub(at) > time.Minute })
	if len(s.tries) >= MaxTries {
		return "", one, ErrTries
	}
	until, ok := s.codes[digest(code)]
	delete(s.codes, digest(code))
	if !ok || now.After(until) {
		s.tries = append(s.tries, now)
		return "", one, ErrCode
	}
	token = secret(32)
	one = Session{ID: secret(8), Label: excerpt.Clip(strings.ToValidUTF8(label, "\ufffd"), maxLabel), CreatedAt: now.UTC(), LastUsedAt: now.UTC()}
	s.expire(now)
	for len(s.sessions) >= maxSessions {
		s.drop(s.longestUnused())
	}
	s.sessions[digest(token)] = &entry{Session: one, revoked: make(chan struct{})}
	return token, one, s.save()
}

func (s *Store) longestUnused() (oldest string) {
	for key, e := range s.sessions {
		if oldest == "" || e.LastUsedAt.Before(s.sessions[oldest].LastUsedAt) {
			oldest = key
		}
	}
	return oldest
}

// expire drops what was not used for too long.
func (s *Store) expire(now time.Time) {
	for key, e := range s.sessions {
		if now.Sub(e.LastUsedAt) > IdleLimit {
			s.drop(key)
		}
	}
}

func (s *Store) drop(key string) {
	close(s.sessions[key].revoked)
	delete(s.sessions, key)
}

// Check returns the id of the session that a token belongs to. Tokens are found by their digest, so that the time it
// takes tells nothing about other tokens.
func (s *Store) Check(token string) (id string, ok bool) {
	key := digest(token)
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	e := s.sessions[key]
	if e == nil {
		return "", false
	}
	if now.Sub(e.LastUsedAt) > IdleLimit {
		s.drop(key)
		return "", false
	}
	e.LastUsedAt = now.UTC()
	if now.Sub(s.saved) > saveEvery {
		_ = s.save() // when a session was used is written again later
	}
	return e.ID, true
}

// List lists the sessions, the last used first.
func (s *Store) List() []Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire(s.now())
	list := []Session{}
	for _, e := range s.sessions {
		list = append(list, e.Session)
	}
	slices.SortFunc(list, func(a, b Session) int { return b.LastUsedAt.Compare(a.LastUsedAt) })
	return list
}

// Revoke takes the token of a session back. The error is fs.ErrNotExist for an id that no session has.
func (s *Store) Revoke(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, e := range s.sessions {
		if e.ID == id {
			s.drop(key)
			return s.save()
		}
	}
	return fs.ErrNotExist
}

// Revoked returns a channel that closes when a session ends; closed already for an id that no session has, and nil,
// which never closes, for "".
func (s *Store) Revoked(id string) <-chan struct{} {
	if id == "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.sessions {
		if e.ID == id {
			return e.revoked
		}
	}
	over := make(chan struct{})
	close(over)
	return over
}

// save stores the sessions. The caller holds the lock.
func (s *Store) save() error {
	f := file{SchemaVersion: version, Sessions: []kept{}}
	for key, e := range s.sessions {
		f.Sessions = append(f.Sessions, kept{e.Session, key})
	}
	slices.SortFunc(f.Sessions, func(a, b kept) int { return strings.Compare(a.ID, b.ID) })
	doc, err := document.Encode(f)
	if err == nil {
		err = renameio.WriteFile(s.path, doc, 0o600, renameio.IgnoreUmask())
	}
	if err != nil {
		return fmt.Errorf("store page sessions: %w", err)
	}
	s.saved = s.now()
	return nil
}
