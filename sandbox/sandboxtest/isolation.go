package sandboxtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"sandboxrun/sandbox"
)

func (s suite) isolationTests() map[string]func(t *testing.T) {
	return map[string]func(t *testing.T){
		"the user of a box has a name": func(t *testing.T) {
			box := s.open(t, nil)
			box.want(`id -un && perl -e 'my @u = getpwuid $<; exit 1 if getgrgid($() ne "agent"; print "$u[0] $u[7] ", scalar getpwnam("root"), " ", scalar getpwnam("agent") == $<, "\n"'`,
				"agent\n"+"agent "+sandbox.Home+" 0 1")
			// The image's own users are there, and nobody can change the files.
			box.want("grep -c ^www-data: /etc/passwd; echo x 2>/dev/null >> /etc/passwd || echo refused", "1\nrefused")
			box.close()
		},
		"no process has a capability or can gain one": func(t *testing.T) {
			box := s.open(t, nil)
			// The first process, one started by exec, and a child of that.
			for _, who := range []string{"1", "self", "$$"} {
				got := box.sh("cat /proc/" + who + "/status").out
				for _, set := range []string{"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"} {
					if v, ok := field(got, set); ok && strings.Trim(v, "0") != "" || !ok && !s.options.OwnKernel {
						t.Errorf("process %s: %s %q", who, set, v)
					}
				}
				if s.options.OwnKernel {
					continue
				}
				for name, want := range map[string]string{"NoNewPrivs": "1", "Seccomp": "2"} {
					if v, _ := field(got, name); v != want {
						t.Errorf("process %s: %s %q, want %s", who, name, v, want)
					}
				}
			}
		},
		"system calls that reach the host's kernel are refused": func(t *testing.T) {
			box := s.open(t, nil)
			scripts := []string{
				"mount -t tmpfs none /tmp", "mknod /tmp/d c 1 3",
				"chroot / true", "echo 1 > /proc/sys/kernel/core_pattern", "echo b > /proc/sysrq-trigger",
			}
			if !s.options.OwnKernel {
				// A kernel of its own may allow namespaces of its own.
				scripts = append(scripts, "unshare -Ur true", "unshare -m true")
			}
			for _, script := range scripts {
				if got := box.sh(script); got.Code == 0 {
					t.Errorf("%s: %+v", script, got)
				}
			}
		},
		"the root is read-only, home and temporary directories are not": func(t *testing.T) {
			box := s.open(t, nil)
			for _, path := range []string{"/x", "/etc/passwd", "/usr/bin/x", "/var/x", "/etc/hosts", "/etc/resolv.conf", "/dev/x", "/sys/x"} {
				if got := box.sh("echo x >> " + path); got.Code == 0 {
					t.Errorf("%s is writable", path)
				}
			}
			for _, path := range []string{sandbox.Home, sandbox.TempDir, "/run", sandbox.WorkDir, "/dev/shm"} {
				if got := box.sh("echo x > " + path + "/x && cat " + path + "/x"); got.out != "x\n" {
					t.Errorf("%s is not writable: %+v", path, got)
				}
			}
			box.want("echo 'echo ran' > /tmp/p; chmod +x /tmp/p; /tmp/p", "ran")
		},
		"home and temporary directory have the requested size": func(t *testing.T) {
			box := s.open(t, nil)
			for _, dir := range []string{sandbox.Home, sandbox.TempDir} {
				box.want("df -B1 --output=size "+dir+" | tail -1", strconv.FormatInt(box.spec.Limits.TmpBytes, 10))
				if got := box.sh("head -c 17M /dev/zero > " + dir + "/big"); got.Code == 0 {
					t.Errorf("%s holds more than its size", dir)
				}
			}
		},
		"there is no network but loopback": func(t *testing.T) {
			box := s.open(t, nil)
			box.want("tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '", "lo")
			box.want("tail -n +2 /proc/net/route | wc -l", "0")
			if got := box.sh("bash -c 'echo > /dev/tcp/169.254.169.254/80'"); got.Code == 0 {
				t.Error("the metadata address is reachable")
			}
			// Refused, not unreachable: the interface is up.
			if got := box.sh("bash -c 'echo > /dev/tcp/127.0.0.1/9'"); !strings.Contains(got.err, "refused") {
				t.Errorf("loopback is not up: %+v", got)
			}
			if got := box.sh("getent hosts localhost"); !strings.Contains(got.out, "localhost") {
				t.Errorf("localhost has no address: %+v", got)
			}
			if got := box.sh("getent hosts example.com"); got.Code == 0 {
				t.Errorf("a name was resolved: %+v", got)
			}
			box.want("cat /etc/hostname", "sandbox")
		},
		"no engine socket and no host process can be seen": func(t *testing.T) {
			box := s.open(t, nil)
			for _, path := range []string{"/var/run/docker.sock", "/run/docker.sock", "/run/containerd", "/run/podman"} {
				if got := box.sh("test -e " + path); got.Code == 0 {
					t.Errorf("%s exists", path)
				}
			}
			if n, _ := strconv.Atoi(strings.TrimSpace(box.sh("ls -d /proc/[0-9]* | wc -l").out)); n > 8 {
				t.Errorf("%d processes can be seen", n)
			}
		},
		"binds are read-only": func(t *testing.T) {
			name := "with,comma:colon"
			if s.options.PlainPaths {
				name = "with:colon"
			}
			file := filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(file, []byte("bound"), 0o666); err != nil {
				t.Fatal(err)
			}
			box := s.open(t, func(s *sandbox.Spec) {
				s.Binds = []sandbox.Bind{{Source: file, Target: "/opt/given/file"}}
			})
			box.want("cat /opt/given/file", "bound")
			if got := box.sh("echo x > /opt/given/file"); got.Code == 0 {
				t.Error("writable")
			}
		},
		"limits per process are as requested": func(t *testing.T) {
			box := s.open(t, func(s *sandbox.Spec) { s.Limits.OpenFiles = 777 })
			box.want("ulimit -n; ulimit -c", "777\n0")
		},
		"the box matches its details": func(t *testing.T) {
			box := s.open(t, nil)
			details, ok := box.Sandbox.(sandbox.Details)
			if !ok {
				t.Skip("this engine gives no details")
			}
			if d := details.Details(); d.ID == "" || !strings.HasPrefix(d.ImageID, "sha256:") || s.options.Runtime != "" && d.Runtime != s.options.Runtime {
				t.Errorf("got %s", fmt.Sprintf("%+v", d))
			}
		},
	}
}

// field is the value of a "Name:\tvalue" line.
func field(status, name string) (string, bool) {
	for line := range strings.Lines(status) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value), true
		}
	}
	return "", false
}
