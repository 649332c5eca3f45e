package attest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	intoto "github.com/in-toto/attestation/go/v1"
	"github.com/secure-systems-lab/go-securesystemslib/dsse"
	"google.golang.org/protobuf/encoding/protojson"

	"sandboxrun/runner/document"
	"sandboxrun/runner/journal"
)

// maxEnvelope bounds a signed statement, in bytes.
const maxEnvelope = 1 << 20

// Stored are the files of a run as they are now.
type Stored struct {
	RunID string
	// Paths.
	Envelope, Result, Plan, Patch, Journal string
}

// Finding is one thing that was compared with the statement.
type Finding struct {
	What   string `json:"what"` // signature, run, result, plan, patch or journal
	OK     bool   `json:"ok"`
	Detail string `json:"detail"` // what it is, or why it is not as it was
}

// Report is what Verify found. Run and Status are those of the statement, "" where the signature is not good.
type Report struct {
	OK       bool            `json:"ok"` // all findings are
	KeyID    string          `json:"key_id"`
	RunID    string          `json:"run_id"`
	Status   document.Status `json:"status"`
	Findings []Finding       `json:"findings"`
}

func (r *Report) add(what string, err error, detail string) {
	f := Finding{What: what, OK: err == nil, Detail: detail}
	if err != nil {
		f.Detail = err.Error()
		r.OK = false
	}
	r.Findings = append(r.Findings, f)
}

// Verify compares the files of a run with its signed statement. An error means that something could not be read; what
// was read and is not as it was stands in the report. fs.ErrNotExist of Envelope means that the run was never signed.
func Verify(ctx context.Context, key dsse.Verifier, stored Stored) (*Report, error) {
	text, err := document.ReadSmall(stored.Envelope, maxEnvelope)
	if err != nil {
		return nil, fmt.Errorf("signed statement: %w", err)
	}
	id, err := key.KeyID()
	if err != nil {
		return nil, fmt.Errorf("signed statement: %w", err)
	}
	r := &Report{OK: true, KeyID: id}
	statement, p, err := open(ctx, key, text)
	r.add("signature", err, "ed25519 key "+id)
	if err != nil {
		return r, nil //nolint:nilerr // it is in the report
	}
	r.RunID, r.Status = p.RunID, p.Status
	if p.RunID != stored.RunID {
		r.add("run", fmt.Errorf("the statement is about run %s", p.RunID), "")
	}
	digest := map[string]map[string]string{}
	for _, s := range statement.GetSubject() {
		digest[s.GetName()] = s.GetDigest()
	}
	checkFile(ctx, r, "result", stored.Result, digest[subjectResult]["sha256"])
	checkFile(ctx, r, "plan", stored.Plan, p.Plan["sha256"])
	checkFile(ctx, r, "patch", stored.Patch, digest[subjectPatch]["sha256"])
	checkJournal(ctx, r, stored.Journal, p.Journal)
	return r, context.Cause(ctx)
}

// open checks the signature and reads what it signs.
func open(ctx context.Context, key dsse.Verifier, text []byte) (*intoto.Statement, *predicate, error) {
	var envelope dsse.Envelope
	if err := json.Unmarshal(text, &envelope); err != nil {
		return nil, nil, fmt.Errorf("no DSSE envelope: %w", err)
	}
	if len(envelope.Signatures) != 1 || envelope.PayloadType != payloadType {
		return nil, nil, errors.New("no envelope of one signed statement")
	}
	verifier, err := dsse.NewEnvelopeVerifier(key)
	if err != nil {
		return nil, nil, err
	}
	_, payload, err := verifier.VerifyAndDecode(ctx, &envelope)
	if err != nil {
		return nil, nil, errors.New("the statement was changed, or another key signed it")
	}
	var s intoto.Statement
	if err := protojson.Unmarshal(payload, &s); err != nil {
		return nil, nil, fmt.Errorf("no in-toto statement: %w", err)
	}
	if err := s.Validate(); err != nil {
		return nil, nil, fmt.Errorf("no valid in-toto statement: %w", err)
	}
	if s.GetPredicateType() != predicateType {
		return nil, nil, fmt.Errorf("a statement of type %q", s.GetPredicateType())
	}
	fields, err := protojson.Marshal(s.GetPredicate())
	if err != nil {
		return nil, nil, err
	}
	var p predicate
	if err := json.Unmarshal(fields, &p); err != nil {
		return nil, nil, fmt.Errorf("no statement about a run: %w", err)
	}
	return &s, &p, nil
}

// checkFile compares a file with its sum; want is "" where there was none.
func checkFile(ctx context.Context, r *Report, what, path, want string) {
	got, err := fileSum(ctx, path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && want == "":
		return // a run that changed nothing has no patch
	case errors.Is(err, fs.ErrNotExist):
		err = errors.New("it is missing")
	case err == nil && want == "":
		err = errors.New("the run had none")
	case err == nil && got != want:
		err = errors.New("it was changed")
	}
	r.add(what, err, "sha256 "+got)
}

func checkJournal(ctx context.Context, r *Report, path string, want *document.JournalHead) {
	if want == nil {
		return // nothing could be stored, and the result says so
	}
	_, err := journal.Verify(ctx, path, journal.Head{Seq: want.Events, SHA256: want.SHA256})
	r.add("journal", err, fmt.Sprintf("%d events", want.Events))
}
