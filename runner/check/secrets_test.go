package check

import "testing"

func TestTheSearchForSecretsIsAVerdict(t *testing.T) {
	t.Parallel()
	changed := evidenceOf(repo{}, repo{"a": "b"})
	for name, tt := range map[string]struct {
		found *Secrets
		want  Outcome
	}{
		"none": {&Secrets{}, Pass}, "some": {&Secrets{Paths: []string{"a"}}, Fail}, "more than listed": {&Secrets{Further: 3}, Fail},
		"some of what was searched": {&Secrets{Paths: []string{"a"}, Incomplete: "too large"}, Fail},
		"not all searched":          {&Secrets{Incomplete: "too large"}, Unverifiable}, "not searched": {nil, Unverifiable},
	} {
		e := changed
		e.Secrets = tt.found
		if v, err := (noSecrets{}).Check(t.Context(), e); err != nil || v.Verdict != tt.want || v.Evidence == "" {
			t.Errorf("%s: %+v, error %v, want %s", name, v, err, tt.want)
		}
	}
	if v, err := (noSecrets{}).Check(t.Context(), Evidence{}); err != nil || v.Verdict != Pass {
		t.Errorf("nothing changed: %+v, error %v", v, err)
	}
}
