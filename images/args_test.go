package images

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHostArgsTakesOnlyNetworkSettings(t *testing.T) {
	t.Parallel()
	got := HostArgs([]string{
		"HTTPS_PROXY=http://proxy:3128", "no_proxy=a=b", "http_proxy=", "NPM_CONFIG_REGISTRY=https://npm.example",
		"ANTHROPIC_API_KEY=secret", "PATH=/bin", "nonsense",
	})
	want := map[string]string{
		"HTTPS_PROXY": "http://proxy:3128", "no_proxy": "a=b", "NPM_CONFIG_REGISTRY": "https://npm.example",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("HostArgs (-want +got):\n%s", diff)
	}
	if err := (Build{Args: got}).Check(); err != nil {
		t.Errorf("Check refuses what HostArgs returns: %v", err)
	}
}

func TestCheckNamesAnArgumentTheRecipeLacks(t *testing.T) {
	t.Parallel()
	if err := (Build{Args: map[string]string{"NODE_VERSION": "1", "BASE_IMAGE": "b"}}).Check(); err != nil {
		t.Errorf("declared arguments refused: %v", err)
	}
	err := Build{Args: map[string]string{"NODE_VERSION": "1", "NOBODY_VERSION": "2"}}.Check()
	if err == nil || !strings.Contains(err.Error(), "NOBODY_VERSION") {
		t.Errorf("Check() = %v, want an error naming NOBODY_VERSION", err)
	}
}

func TestBaseIsTheRecipesDefault(t *testing.T) {
	t.Parallel()
	if got := declaredArgs()["BASE_IMAGE"]; got != Base {
		t.Errorf("BASE_IMAGE defaults to %q, Base is %q", got, Base)
	}
}
