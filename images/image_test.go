package images

import (
	"os/exec"
	"strings"
	"testing"

	"sandboxrun/internal/testenv"
)

// inBox runs a shell script in the agent image, hardened as the box is.
func inBox(t *testing.T, script string) string {
	t.Helper()
	testenv.Engine(t, Name)
	tmpfs := ":uid=10001,gid=10001,size=64m"
	out, err := exec.CommandContext(t.Context(), "docker", "run", "--rm", "--network", "none", "--read-only", "--cap-drop", "ALL",
		"--security-opt", "no-new-privileges", "--user", "10001:10001", "--tmpfs", "/tmp"+tmpfs,
		"--tmpfs", "/home/agent"+tmpfs, "--env", "HOME=/home/agent", Name, "sh", "-euc", script).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return string(out)
}

func TestAgentImageRunsItsToolsInAHardenedBox(t *testing.T) {
	t.Parallel()
	versions := inBox(t, "node --version; npm --version; npx --version; git --version; rg --version; curl --version; ps --version; bash --version")
	if !strings.HasPrefix(versions, "v22.") {
		t.Errorf("versions are\n%s", versions)
	}
}

func TestAgentImageLeavesMountPointsToTheEngine(t *testing.T) {
	t.Parallel()
	// /home/agent exists because inBox mounts it.
	if found := inBox(t, "ls -d /workspace 2>/dev/null || true; ls /home"); found != "agent\n" {
		t.Errorf("the image brings %q", found)
	}
}

func TestAgentImageHasNoSetuidPrograms(t *testing.T) {
	t.Parallel()
	if found := inBox(t, "find / -xdev -type f -perm /6000 2>/dev/null || true"); found != "" {
		t.Errorf("setuid or setgid files:\n%s", found)
	}
}

func TestAgentImageTrustsACABundle(t *testing.T) {
	t.Parallel()
	out := inBox(t, `for v in SSL_CERT_FILE NODE_EXTRA_CA_CERTS NPM_CONFIG_CAFILE GIT_SSL_CAINFO; do grep -qs "BEGIN CERTIFICATE" "$(printenv $v)" || echo "$v"; done`)
	if out != "" {
		t.Errorf("these name no bundle in the image: %s", out)
	}
}
