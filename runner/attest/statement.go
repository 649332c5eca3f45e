// Package attest signs what a run measured, and verifies later, without a network, that none of it was changed: an
// in-toto statement (github.com/in-toto/attestation, spec v1) about the result and its files, in a DSSE envelope
// (github.com/secure-systems-lab/dsse).
package attest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	intoto "github.com/in-toto/attestation/go/v1"
	"github.com/secure-systems-lab/go-securesystemslib/dsse"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"

	"sandboxrun/runner/document"
)

// Types of the envelope's payload and of the statement's predicate.
const (
	payloadType   = "application/vnd.in-toto+json"
	predicateType = "urn:sandboxrun:attestation:run:1"
)

// Names of the statement's subjects.
const (
	subjectResult = "result.json"
	subjectPatch  = "diff.patch"
	subjectTree   = "tree"
	subjectCommit = "commit"
)

// Files are what a statement is about besides git objects and the journal, whose names the result has.
type Files struct {
	Result []byte // as stored
	Plan   string // path of the plan: the task as compiled, with its checks and the policy of its boxes
	Patch  string // path of the patch; there is none where nothing changed
}

// predicate says what the subjects of a statement came from.
type predicate struct {
	RunID   string                `json:"runId"`
	TaskID  string                `json:"taskId"`
	Status  document.Status       `json:"status"`
	Version string                `json:"version"`        // of the program that measured
	Plan    map[string]string     `json:"plan"`           // digest
	Base    map[string]string     `json:"base,omitempty"` // digest of the commit
	Box     *box                  `json:"box,omitempty"`  // missing where none was made
	Journal *document.JournalHead `json:"journal,omitempty"`
	Ended   string                `json:"endedAt"` // RFC 3339
}

// box is what the work ran in.
type box struct {
	Image   string `json:"image"`
	Digest  string `json:"imageDigest"`
	Engine  string `json:"engine"`
	Runtime string `json:"runtime"`
	Tier    string `json:"tier"`
}

// Sign returns the signed statement about a result: a DSSE envelope as JSON.
func Sign(ctx context.Context, key dsse.Signer, version string, res *document.Result, files Files) ([]byte, error) {
	fail := func(err error) ([]byte, error) { return nil, fmt.Errorf("sign result: %w", err) }
	statement, err := newStatement(ctx, version, res, files)
	if err != nil {
		return fail(err)
	}
	payload, err := protojson.Marshal(statement)
	if err != nil {
		return fail(err)
	}
	signer, err := dsse.NewEnvelopeSigner(key)
	if err != nil {
		return fail(err)
	}
	envelope, err := signer.SignPayload(ctx, payloadType, payload)
	if err != nil {
		return fail(err)
	}
	text, err := json.Marshal(envelope)
	if err != nil {
		return fail(err)
	}
	return append(text, '\n'), nil
}

func newStatement(ctx context.Context, version string, res *document.Result, files Files) (*intoto.Statement, error) {
	plan, err := fileSum(ctx, files.Plan)
	if err != nil {
		return nil, err
	}
	s := &intoto.Statement{Type: intoto.StatementTypeUri, PredicateType: predicateType}
	sum := sha256.Sum256(files.Result)
	add := func(name string, digest map[string]string) {
		if len(digest) > 0 {
			s.Subject = append(s.Subject, &intoto.ResourceDescriptor{Name: name, Digest: digest})
		}
	}
	add(subjectResult, map[string]string{"sha256": hex.EncodeToString(sum[:])})
	if patch, err := fileSum(ctx, files.Patch); err == nil {
		add(subjectPatch, map[string]string{"sha256": patch})
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	add(subjectTree, object("gitTree", res.Git.Tree))
	add(subjectCommit, object("gitCommit", res.Git.Commit))
	p := predicate{RunID: res.RunID, TaskID: res.TaskID, Status: res.Status, Version: version, Plan: map[string]string{"sha256": plan},
		Base: object("gitCommit", res.Git.BaseCommit), Journal: res.Journal, Ended: res.EndedAt.UTC().Format("2006-01-02T15:04:05.000Z")}
	if b := res.Box; b != nil {
		p.Box = &box{Image: b.Image, Digest: b.ImageDigest, Engine: b.Engine, Runtime: b.Runtime, Tier: b.Tier}
	}
	text, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	s.Predicate = &structpb.Struct{}
	if err := protojson.Unmarshal(text, s.Predicate); err != nil {
		return nil, err
	}
	return s, s.Validate()
}

// object is the digest of a git object; nil where there is none. in-toto's names are for SHA-1; objects of a SHA-256
// repository get a name of their own.
func object(kind, id string) map[string]string {
	switch len(id) {
	case 0:
		return nil
	case 64:
		return map[string]string{kind + "SHA256": id}
	}
	return map[string]string{kind: id}
}

// fileSum is the SHA-256 of a file, in hexadecimal. The end of ctx ends it.
func fileSum(ctx context.Context, path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // nothing was written
	h := sha256.New()
	for {
		n, err := io.CopyN(h, f, 4<<20)
		if errors.Is(err, io.EOF) || err == nil && n == 0 {
			return hex.EncodeToString(h.Sum(nil)), nil
		}
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return "", err
		}
	}
}
