package doctor

import (
	"strings"
	"testing"

	"sandboxrun/internal/confine"
)

func TestAKernelWithoutLandlockIsNamed(t *testing.T) {
	t.Parallel()
	for version, want := range map[int]Level{0: LevelCaution, 1: LevelCaution, 2: LevelPass, 7: LevelPass} {
		f := readerFinding(version)
		if f.Level != want || (want == LevelCaution) != (f.Hint != "") || !strings.Contains(f.Message, "Landlock") {
			t.Errorf("version %d: %+v", version, f)
		}
	}
	if got, want := checkReader(t.Context(), nil), readerFinding(confine.LandlockVersion()); got != want {
		t.Errorf("this kernel: %+v, not %+v", got, want)
	}
}
