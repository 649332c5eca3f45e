package attest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"

	"sandboxrun/runner/document"
	"sandboxrun/runner/journal"
)

const hash = "0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a"

func put(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// signed is the directory of a run that ended and was signed.
func signed(t *testing.T) (Stored, dsse.SignerVerifier) {
	t.Helper()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	s := Stored{RunID: "r1", Envelope: at("attestation.json"), Result: at("result.json"), Plan: at("plan.json"), Patch: at("diff.patch"), Journal: at("events.ndjson")}
	j, err := journal.Open(s.Journal, s.RunID)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{journal.EventRunStarted, journal.EventRunEnded} {
		if _, err := j.Append(journal.Event{Time: time.Now(), Kind: kind}); err != nil {
			t.Fatal(err)
		}
	}
	head := j.Head()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	res := &document.Result{RunID: s.RunID, TaskID: "t", Status: document.StatusPartial, EndedAt: time.Now(),
		Journal: &document.JournalHead{Events: head.Seq, SHA256: head.SHA256}, Git: document.GitResult{BaseCommit: hash, Tree: hash, Commit: hash},
		Box: &document.BoxResult{Image: "image", ImageDigest: "sha256:1"}}
	text, err := document.Encode(res)
	if err != nil {
		t.Fatal(err)
	}
	put(t, s.Result, text)
	put(t, s.Plan, []byte("{}\n"))
	put(t, s.Patch, []byte("diff\n"))
	key, err := Key(filepath.Join(dir, "signing"))
	if err != nil {
		t.Fatal(err)
	}
	envelope, err := Sign(t.Context(), key, "v1", res, Files{Result: text, Plan: s.Plan, Patch: s.Patch})
	if err != nil {
		t.Fatal(err)
	}
	put(t, s.Envelope, envelope)
	return s, key
}

func TestAnUnchangedRunIsVerifiedByThePublicKeyAlone(t *testing.T) {
	t.Parallel()
	s, _ := signed(t)
	public, err := PublicKey(PublicKeyPath(filepath.Join(filepath.Dir(s.Result), "signing")))
	if err != nil {
		t.Fatal(err)
	}
	r, err := Verify(t.Context(), public, s)
	if err != nil || !r.OK || r.RunID != "r1" || r.Status != document.StatusPartial || len(r.Findings) != 5 || len(r.KeyID) != 64 {
		t.Errorf("report %+v, error %v", r, err)
	}
}

// TestAStatementIsOfInToto reads the envelope without this package, as other tools do.
func TestAStatementIsOfInToto(t *testing.T) {
	t.Parallel()
	s, _ := signed(t)
	text, err := os.ReadFile(s.Envelope)
	if err != nil {
		t.Fatal(err)
	}
	var envelope dsse.Envelope
	if err := json.Unmarshal(text, &envelope); err != nil {
		t.Fatal(err)
	}
	payload, err := base64.StdEncoding.DecodeString(envelope.Payload)
	if err != nil {
		t.Fatal(err)
	}
	var statement struct {
		Type          string `json:"_type"`
		PredicateType string `json:"predicateType"`
		Subject       []struct {
			Name   string            `json:"name"`
			Digest map[string]string `json:"digest"`
		} `json:"subject"`
		Predicate predicate `json:"predicate"`
	}
	if err := json.Unmarshal(payload, &statement); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, subject := range statement.Subject {
		names = append(names, subject.Name)
	}
	if statement.Type != "https://in-toto.io/Statement/v1" || envelope.PayloadType != "application/vnd.in-toto+json" ||
		strings.Join(names, " ") != "result.json diff.patch tree commit" || statement.Subject[2].Digest["gitTree"] != hash ||
		statement.Predicate.RunID != "r1" || statement.Predicate.Base["gitCommit"] != hash || statement.Predicate.Journal.Events != 2 ||
		statement.Predicate.Box.Digest != "sha256:1" {
		t.Errorf("type %s, statement %s", envelope.PayloadType, payload)
	}
}

func TestEveryChangeIsFound(t *testing.T) {
	t.Parallel()
	change := func(path func(Stored) string, old, with string) func(*testing.T, *Stored) {
		return func(t *testing.T, s *Stored) {
			text, err := os.ReadFile(path(*s))
			if err != nil {
				t.Fatal(err)
			}
			changed := bytes.Replace(text, []byte(old), []byte(with), 1)
			if bytes.Equal(text, changed) {
				t.Fatalf("%q is not in %s", old, text)
			}
			put(t, path(*s), changed)
		}
	}
	result, plan := func(s Stored) string { return s.Result }, func(s Stored) string { return s.Plan }
	patch, events := func(s Stored) string { return s.Patch }, func(s Stored) string { return s.Journal }
	for name, c := range map[string]struct {
		what string
		do   func(*testing.T, *Stored)
	}{
		"status of the result": {"result", change(result, "partial", "success")},
		"white space":          {"result", change(result, "  ", " ")},
		"plan":                 {"plan", change(plan, "{}", "[]")},
		"patch":                {"patch", change(patch, "diff", "diFf")},
		"an event":             {"journal", change(events, `"seq":1`, `"seq":3`)},
		"the end of the events": {"journal", func(t *testing.T, s *Stored) {
			if err := os.Truncate(s.Journal, 0); err != nil {
				t.Fatal(err)
			}
		}},
		"patch removed": {"patch", func(t *testing.T, s *Stored) {
			if err := os.Remove(s.Patch); err != nil {
				t.Fatal(err)
			}
		}},
		"statement of another run": {"run", func(_ *testing.T, s *Stored) { s.RunID = "r2" }},
		"no envelope":              {"signature", func(t *testing.T, s *Stored) { put(t, s.Envelope, []byte("[]")) }},
		"signed by another key": {"signature", func(t *testing.T, s *Stored) {
			other, _ := signed(t)
			text, err := os.ReadFile(other.Envelope)
			if err != nil {
				t.Fatal(err)
			}
			put(t, s.Envelope, text)
		}},
		"another payload": {"signature", func(t *testing.T, s *Stored) {
			text, err := os.ReadFile(s.Envelope)
			if err != nil {
				t.Fatal(err)
			}
			var envelope dsse.Envelope
			if err := json.Unmarshal(text, &envelope); err != nil {
				t.Fatal(err)
			}
			payload, err := base64.StdEncoding.DecodeString(envelope.Payload)
			if err != nil {
				t.Fatal(err)
			}
			envelope.Payload = base64.StdEncoding.EncodeToString(bytes.Replace(payload, []byte("partial"), []byte("success"), 1))
			if text, err = json.Marshal(envelope); err != nil {
				t.Fatal(err)
			}
			put(t, s.Envelope, text)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, key := signed(t)
			c.do(t, &s)
			r, err := Verify(t.Context(), key, s)
			if err != nil || r.OK {
				t.Fatalf("report %+v, error %v", r, err)
			}
			for _, f := range r.Findings {
				if f.OK == (f.What == c.what) {
					t.Errorf("finding %+v", f)
				}
			}
		})
	}
}

func TestARunThatWasNeverSignedIsNamedSo(t *testing.T) {
	t.Parallel()
	s, key := signed(t)
	if err := os.Remove(s.Envelope); err != nil {
		t.Fatal(err)
	}
	if _, err := Verify(t.Context(), key, s); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

func TestProcessesAgreeOnOneKey(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "signing")
	ids := make([]string, 8)
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() {
			key, err := Key(dir)
			if err != nil {
				t.Error(err)
				return
			}
			if ids[i], err = key.KeyID(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, id := range ids {
		if id == "" || id != ids[0] {
			t.Errorf("keys %q", ids)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("directory %v: %v", entries, err)
	}
	for _, e := range entries {
		if fi, err := e.Info(); err != nil || fi.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", e.Name(), fi.Mode(), err)
		}
	}
}

func TestAFileThatIsNoKeyIsNamed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "key.pem")
	for _, text := range []string{"", "no key", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"} {
		put(t, path, []byte(text))
		if _, err := PublicKey(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
