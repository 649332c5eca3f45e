package recordings_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sandboxrun/agents/recordings"
)

// maxTotal bounds all recordings together, in bytes.
const maxTotal = 1500 << 10

func TestIndexesNameEveryRecording(t *testing.T) {
	t.Parallel()
	transcripts := 0
	var total int64
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		total += info.Size()
		scene, ok := strings.CutSuffix(name, ".jsonl")
		if !ok {
			return nil
		}
		transcripts++
		parts := strings.Split(filepath.ToSlash(strings.TrimSuffix(scene, ".events")), "/")
		if len(parts) != 3 || !slices.Contains(recordings.Versions(parts[0]), parts[1]) || !slices.Contains(recordings.Scenarios(parts[0], parts[1]), parts[2]) {
			t.Errorf("%s is in no index", name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if transcripts == 0 || total > maxTotal {
		t.Errorf("%d transcripts of %d bytes in all, allowed are %d", transcripts, total, maxTotal)
	}
}

func TestEveryIndexHasItsRecordings(t *testing.T) {
	t.Parallel()
	indexes, err := filepath.Glob("*/*/index.json")
	if err != nil || len(indexes) == 0 {
		t.Fatalf("indexes = %q, %v", indexes, err)
	}
	for _, index := range indexes {
		agent, version := path.Dir(path.Dir(index)), path.Base(path.Dir(index))
		names := recordings.Scenarios(agent, version)
		if len(names) == 0 {
			t.Errorf("%s names nothing, or another agent or version", index)
		}
		for _, name := range names {
			for _, suffix := range []string{".jsonl", ".events.jsonl"} {
				if _, err := os.Stat(filepath.Join(agent, version, name+suffix)); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

func TestUnknownAgentsHaveNothing(t *testing.T) {
	t.Parallel()
	if v := recordings.Versions("nobody"); v != nil {
		t.Errorf("versions = %q", v)
	}
	if s := recordings.Scenarios("claude", "0.0.0"); s != nil {
		t.Errorf("scenarios = %q", s)
	}
	if _, err := recordings.Tools("nobody"); err == nil {
		t.Error("tools of nobody")
	}
}
