// Package mailbox is how other processes speak to the one that works on a run: files in the run's directory. The first
// to link a file under its name decides, over people, processes and the deadline alike, and what was decided stays
// there when any of them dies.
package mailbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"sandboxrun/internal/publish"
	"sandboxrun/internal/step"
	"sandboxrun/runner/document"
)

var (
	stepAsk    = step.Define("mail/ask")
	stepAnswer = step.Define("mail/answer")
	stepCancel = step.Define("mail/cancel")
)

// Version is written into every file of a mailbox. Readers take later ones as far as they know their fields.
const Version = 1

// Errors of a letter that does not count.
var (
	ErrNotFound   = errors.New("no request with this id was put to anybody")
	ErrAnswered   = errors.New("the request was answered before")
	ErrExpired    = errors.New("nobody answered the request in time")
	ErrDigest     = errors.New("the answer is about another request: its digest differs")
	ErrIncomplete = errors.New("the request is too long for a person to read, so it can only be denied")
	// ErrDamaged is a file that cannot be trusted.
	ErrDamaged = errors.New("is damaged")
)

// Box is the mailbox of one run. The zero Box belongs to none.
type Box struct{ dir string }

// At is the mailbox in the directory of a run.
func At(runDir string) Box { return Box{dir: runDir} }

// Exists says that the mailbox belongs to a run.
func (b Box) Exists() bool { return b.dir != "" }

func (b Box) approvals() string         { return filepath.Join(b.dir, "approvals") }
func (b Box) asked(id string) string    { return filepath.Join(b.approvals(), id+askedSuffix) }
func (b Box) answered(id string) string { return filepath.Join(b.approvals(), id+answerSuffix) }
func (b Box) cancelPath() string        { return filepath.Join(b.dir, "cancel.json") }

const (
	askedSuffix  = ".asked.json"
	answerSuffix = ".answer.json"
)

var idForm = regexp.MustCompile(`^a[1-9][0-9]{0,5}$`)

// ValidID reports whether id can be that of a request. It prevents foreign names from becoming paths.
func ValidID(id string) bool { return idForm.MatchString(id) }

// read decodes one file of at most max bytes. Whatever is wrong with a file that is there is ErrDamaged.
func read(path string, most int64, into any) error {
	data, err := document.ReadSmall(path, most)
	if errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		return fmt.Errorf("%s %w: %w", filepath.Base(path), ErrDamaged, err)
	}
	return nil
}

// post makes a file appear at path, unless there is one already.
func post(n step.Name, path string, letter any, hide func([]byte) []byte) error {
	data, err := document.Encode(letter)
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	if hide != nil {
		data = hide(data)
	}
	step.Before(n)
	err = publish.File(path, data)
	step.After(n)
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	return nil
}

// Sweep removes what writers left that died half-way. Nobody may write meanwhile.
func (b Box) Sweep() error {
	var err error
	for _, dir := range []string{b.dir, b.approvals()} {
		entries, rerr := os.ReadDir(dir)
		if rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), publish.HalfPrefix) {
				err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
			}
		}
	}
	if err != nil {
		return fmt.Errorf("sweep mailbox: %w", err)
	}
	return nil
}
