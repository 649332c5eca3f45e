package egress

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"sandboxrun/internal/testenv"
)

const dockerImage = "debian:bookworm-slim"

// box is a container without network whose main process is a guest.
type box struct {
	name string
	gate *Gate

	mu      sync.Mutex
	records []Record
}

// newBox starts a box, or skips the test without an engine or image.
func newBox(t *testing.T, cfg Config) *box {
	t.Helper()
	return newBoxOn(t, "runc", cfg)
}

// newBoxOn starts a box on an OCI runtime.
func newBoxOn(t *testing.T, runtime string, cfg Config) *box {
	t.Helper()
	testenv.Engine(t, dockerImage)
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil { // the box runs as another user
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-trimpath", "-o", filepath.Join(dir, "guest"), "./testdata/guestmain")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	resolv := filepath.Join(dir, "resolv.conf")
	if err := os.WriteFile(resolv, []byte("nameserver 127.0.0.1\n"), 0o644); err != nil {
		t.Fatal(err)
	}

	b := &box{name: "egress-test-" + strings.ToLower(rand.Text())}
	cfg.Token = testToken
	cfg.Record = func(rec Record) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.records = append(b.records, rec)
	}
	var err error
	if b.gate, err = NewGate(cfg); err != nil {
		t.Fatal(err)
	}
	run := exec.Command("docker", "run", "-i", "--rm", "--runtime", runtime, "--name", b.name, "--network", "none",
		"--user", "12345:12345", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--read-only", "--tmpfs", "/tmp",
		"--memory", "128m", "--memory-swap", "128m", "--pids-limit", "64",
		"-v", dir+":/.sandboxrun:ro", "-v", resolv+":/etc/resolv.conf:ro",
		dockerImage, "/.sandboxrun/guest")
	in, err := run.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := run.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	run.Stderr = &stderr
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() {
		served <- b.gate.Serve(t.Context(), joined{out, in, func() error { return errors.Join(in.Close(), out.Close()) }})
	}()
	t.Cleanup(func() {
		_ = b.gate.Close()
		if err := <-served; err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("serve: %v", err)
		}
		_ = exec.Command("docker", "rm", "-f", b.name).Run() // already removed when it ended by itself
		_ = run.Wait()
	})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if err := b.gate.Ready(ctx); err != nil {
		_ = b.gate.Close()
		t.Fatalf("%v: %s", err, stderr.String())
	}
	return b
}

// sh runs a bash script in the box.
func (b *box) sh(t *testing.T, script string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "docker", "exec", b.name, "bash", "-c", script)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", script, err, out)
	}
	return string(out)
}

// request is a bash script that sends an HTTP request to a loopback port.
func request(port int, lines ...string) string {
	text := strings.Join(append(lines, "Connection: close", "", ""), `\r\n`)
	return fmt.Sprintf(`exec 3<>/dev/tcp/127.0.0.1/%d; printf '%s' >&3; cat <&3`, port, text)
}

func TestBoxReachesItsProviderAndNothingElse(t *testing.T) {
	t.Parallel()
	canary, err := net.Listen("tcp4", "0.0.0.0:0") // a service of the host, open to all of its networks
	if err != nil {
		t.Fatal(err)
	}
	reached := make(chan struct{}, 100)
	go func() {
		for {
			conn, err := canary.Accept()
			if err != nil {
				close(reached)
				return
			}
			reached <- struct{}{}
			_ = conn.Close()
		}
	}()
	defer func() {
		_ = canary.Close()
		for range reached {
			t.Error("the box reached a service of the host")
		}
	}()
	_, port, err := net.SplitHostPort(canary.Addr().String())
	if err != nil {
		t.Fatal(err)
	}

	b := newBox(t, Config{
		Allow: []string{"allowed.test:" + port}, Resolver: names{"allowed.test": {"172.17.0.1", "127.0.0.1"}},
		Routes: []Route{provider(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("X-Api-Key") != testKey {
				w.WriteHeader(http.StatusUnauthorized)
			}
			body, _ := io.ReadAll(r.Body)
			fmt.Fprintf(w, `{"model":"scripted","echo":%q,"usage":{"output_tokens":5}}`, body)
		})},
	})

	answer := b.sh(t, request(BrokerPort, "POST /anthropic/v1/messages HTTP/1.1", "Host: x", "X-Api-Key: "+testToken, "Content-Type: application/json", fmt.Sprintf("Content-Length: %d", len(small)), "", small))
	if !strings.HasPrefix(answer, "HTTP/1.1 200 OK") || !strings.Contains(answer, fmt.Sprintf(`"echo":%q`, small)) {
		t.Errorf("broker: %s", answer)
	}
	for _, target := range []string{"172.17.0.1:" + port, "127.0.0.1:" + port, "allowed.test:" + port, "169.254.169.254:80", "elsewhere.test:443"} {
		if answer := b.sh(t, request(ProxyPort, "CONNECT "+target+" HTTP/1.1", "Host: "+target)); !strings.HasPrefix(answer, "HTTP/1.1 403 ") {
			t.Errorf("proxy to %s: %s", target, answer)
		}
	}
	for _, target := range []string{"172.17.0.1/" + port, "8.8.8.8/53", "169.254.169.254/80", "127.0.0.1/" + port} {
		if out := b.sh(t, "(exec 3<>/dev/tcp/"+target+") 2>/dev/null && echo OPEN || echo closed"); out != "closed\n" {
			t.Errorf("direct to %s: %s", target, out)
		}
	}
	if out := b.sh(t, "ls /sys/class/net"); strings.TrimSpace(out) != "lo" {
		t.Errorf("interfaces: %s", out)
	}
	if out := b.sh(t, "getent hosts direct.test; echo $?"); out != "2\n" {
		t.Errorf("name service: %s", out)
	}
	everything := b.sh(t, `env; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' '\n'; ls -l /proc/*/fd/1 2>&1`)
	if strings.Contains(everything, testKey) {
		t.Error("the key is in the box")
	}

	if err := b.gate.Close(); err != nil {
		t.Fatal(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, name := range []string{"172.17.0.1:" + port, "allowed.test:" + port, "169.254.169.254:80", "elsewhere.test:443", "direct.test"} {
		if !slices.ContainsFunc(b.records, func(r Record) bool { return r.Kind == KindDenied && r.Name == name }) {
			t.Errorf("%s was not recorded as denied: %+v", name, b.records)
		}
	}
	if !slices.ContainsFunc(b.records, func(r Record) bool { return r.Kind == KindRequest && r.OutputTokens == 5 }) {
		t.Errorf("the request was not recorded: %+v", b.records)
	}
}

func TestBoxEndsWhenItsTunnelEnds(t *testing.T) {
	t.Parallel()
	b := newBox(t, Config{})
	wait := exec.Command("docker", "wait", b.name)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = wait.Run() // the container may be removed before docker wait finds it, which is an error but also an end
	}()
	if err := b.gate.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(patience):
		_ = wait.Process.Kill()
		<-ended
		t.Error("the guest outlived its tunnel")
	}
}

func TestHostReachesAServerInTheBox(t *testing.T) {
	t.Parallel()
	b := newBox(t, Config{})
	const port = 7001
	// perl-base is part of every Debian; it accepts one connection, sends one line and ends.
	server := exec.Command("docker", "exec", b.name, "perl", "-e", `
		use IO::Socket; $|=1;
		my $s = IO::Socket::INET->new(LocalAddr=>"127.0.0.1", LocalPort=>`+strconv.Itoa(port)+`, Listen=>1, ReuseAddr=>1) or die $!;
		print "listening\n"; my $c = $s->accept; print $c "from the box"; close $c;`)
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, len("listening\n"))); err != nil {
		t.Fatal(err)
	}
	conn, err := b.gate.Dial(t.Context(), port)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if got, err := io.ReadAll(conn); err != nil || string(got) != "from the box" {
		t.Errorf("%q %v", got, err)
	}
	if err := server.Wait(); err != nil {
		t.Error(err)
	}
}

// TestGuestIsADecentFirstProcess leaves an orphan to the guest, kills every process it can reach from inside, and
// writes where the tunnel might be.
func TestGuestWorksAsProcess1(t *testing.T) {
	t.Parallel()
	b := newBox(t, Config{})
	orphans := b.sh(t, `(sleep 0.1 &); (sleep 0.2 &) # a zombie keeps its name
		for i in $(seq 100); do grep -l '^Name:.sleep' /proc/[0-9]*/status 2>/dev/null >/tmp/left; test -s /tmp/left || break; sleep 0.1; done; cat /tmp/left`)
	if orphans != "" {
		t.Errorf("never reaped: %s", orphans)
	}
	if out := b.sh(t, `kill -9 -1 2>/dev/null; kill -9 1; (echo stray >/proc/1/fd/1) 2>&1 | grep -o denied; cat /proc/1/comm`); out != "denied\nguest\n" {
		t.Errorf("%q", out)
	}
	if answer := b.sh(t, request(ProxyPort, "CONNECT a.test:443 HTTP/1.1", "Host: x")); !strings.HasPrefix(answer, "HTTP/1.1 403") {
		t.Errorf("afterwards: %s", answer)
	}
}

// signalAll sends process 1 every signal but SIGKILL and SIGSTOP: by kill(2), and by rt_sigqueueinfo(2) with a code
// that marks it as the kernel's.
const signalAll = `perl -e 'my $queue = shift; my $info;
	for my $s (grep { $_ != 9 && $_ != 19 } 1 .. 64) {
		kill $s, 1;
		$info = pack("iiiiii", $s, 0, -1, 0, $$, $<) . chr(0) x 104;
		syscall($queue, 1, $s, $info) == 0 or print "signal $s: $!\n";
	}' $(case $(uname -m) in x86_64) echo 129 ;; *) echo 138 ;; esac)`

func TestGuestSurvivesEverySignalOfItsBox(t *testing.T) {
	t.Parallel()
	for _, runtime := range []string{"runc", "runsc"} {
		t.Run(runtime, func(t *testing.T) {
			t.Parallel()
			testenv.Runtime(t, runtime)
			b := newBoxOn(t, runtime, Config{})
			if out := b.sh(t, signalAll); out != "" {
				t.Errorf("not sent: %s", out)
			}
			if answer := b.sh(t, request(ProxyPort, "CONNECT a.test:443 HTTP/1.1", "Host: x")); !strings.HasPrefix(answer, "HTTP/1.1 403") {
				t.Errorf("afterwards: %s", answer)
			}
		})
	}
}
