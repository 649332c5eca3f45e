package document

import "testing"

func TestCriteriaThatLookLikeCommands(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"npm test": true, "go test ./...": true, "make": true, "./run-tests.sh --fast": true, "pytest -q tests/": true, "scripts/check.sh": true,
		"npm run lint && npm test": true, "python3 -m unittest": true,
		"npm test passes": false, "make sure that the tests pass": false, "go test is green": false, "The code reads well.": false,
		"It answers fast": false, "node is not started twice": false, "": false, "test it": false, "make the tests pass": false,
		"go does not report any error when it is built with the race detector and without it": false,
	} {
		if got := (Criterion{Text: text}).LooksLikeCommand(); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
