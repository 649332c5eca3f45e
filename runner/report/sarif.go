package report

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sandboxrun/runner/document"
)

// The objects of SARIF 2.1.0 that are written. The library for it would link a validator of schemas into the program.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool struct {
			Driver sarifDriver `json:"driver"`
		} `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifDriver struct {
		Name  string      `json:"name"`
		Rules []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID    string    `json:"id"`
		Short sarifText `json:"shortDescription"`
		Help  sarifText `json:"help"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		Rule         string            `json:"ruleId"`
		Level        string            `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations"`
		Fingerprints map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		Physical struct {
			Artifact struct {
				URI string `json:"uri"`
			} `json:"artifactLocation"`
			Region struct {
				StartLine int `json:"startLine"`
			} `json:"region"`
		} `json:"physicalLocation"`
	}
)

// sarif has a result for every issue about a file. Services take none without a place: a violated constraint that names no
// file is shown at the first changed one.
func sarif(v *view) ([]byte, error) {
	log := sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{{Results: []sarifResult{}}}}
	run := &log.Runs[0]
	run.Tool.Driver = sarifDriver{Name: "sandboxrun", Rules: []sarifRule{}}
	for _, i := range v.Issues {
		path := i.Path
		if path == "" && strings.HasPrefix(i.Code, "constraint_") && len(v.FilesChanged) > 0 {
			path = v.FilesChanged[0].Path
		}
		if path == "" {
			continue
		}
		kind := document.KindOfIssue(i.Code)
		if !slices.ContainsFunc(run.Tool.Driver.Rules, func(r sarifRule) bool { return r.ID == i.Code }) {
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{i.Code, sarifText{kind.Meaning}, sarifText{kind.Action}})
		}
		r := sarifResult{Rule: i.Code, Level: level(kind), Message: sarifText{i.Description}, Locations: make([]sarifLocation, 1)}
		sum := sha256.Sum256([]byte(i.Code + "\x00" + path + "\x00" + i.Description))
		r.Fingerprints = map[string]string{"sandboxrun/v1": hex.EncodeToString(sum[:16])}
		// A colon in a name must not make a scheme of what is before it.
		r.Locations[0].Physical.Artifact.URI = strings.ReplaceAll((&url.URL{Path: path}).EscapedPath(), ":", "%3A")
		r.Locations[0].Physical.Region.StartLine = line(i.Description)
		run.Results = append(run.Results, r)
	}
	text, err := json.MarshalIndent(log, "", "  ")
	return append(text, '\n'), err
}

func level(k document.IssueKind) string {
	switch slices.Max(k.Severities) {
	case document.SeverityNote:
		return "note"
	case document.SeverityFlaw:
		return "warning"
	case document.SeverityFruitless, document.SeverityFatal:
	}
	return "error"
}

var lineOf = regexp.MustCompile(`\bline (\d{1,7})\b`)

// line is the line that a description names, the first one where it names none.
func line(description string) int {
	if m := lineOf.FindStringSubmatch(description); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil && n > 0 {
			return n
		}
	}
	return 1
}
