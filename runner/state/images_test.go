package state

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestProgramsOfImagesAreRemembered(t *testing.T) {
	t.Parallel()
	st, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, known := st.Program("sha256:a", "claude"); known {
		t.Error("a program is known before anybody looked")
	}
	for _, name := range []string{"claude", "codex"} {
		if err := st.SetProgram("sha256:a", name, name == "claude"); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]bool{"claude": true, "codex": false} {
		if holds, known := st.Program("sha256:a", name); !known || holds != want {
			t.Errorf("%s: %v, known %v", name, holds, known)
		}
	}
	for i := range 2 * maxImages {
		if err := st.SetProgram(fmt.Sprintf("sha256:%d", i), "claude", true); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(st.programs()); n > maxImages {
		t.Errorf("%d images are remembered", n)
	}
	if err := os.WriteFile(filepath.Join(st.Dir(), imagesFile), []byte("null"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := st.SetProgram("sha256:b", "claude", true); err != nil {
		t.Errorf("a broken file: %v", err)
	}
}
