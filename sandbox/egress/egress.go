// Package egress is the only way out of a box that has no network.
//
// The box's main process is package guest. It listens on two loopback ports inside
// the box and carries every connection over one byte stream, the container's
// standard input and output, multiplexed with yamux. On the host, a [Gate] serves
// the other end. It offers exactly two services: the broker, which forwards the
// listed calls of a model provider and swaps the run's placeholder token for
// the real key, and the proxy, which connects to host names on an allow-list.
// Everything else is refused and recorded with the requested name.
//
// Every byte that reaches a Gate is written by an attacker. A Gate therefore
// holds memory and goroutines in proportion to its [Limits] only, and ends the
// tunnel of a guest that breaks the protocol.
//
// The broker reads every request before it forwards one (package body): what a
// provider would fetch, run, store or look up for the box needs a grant.
//
// Limits of the gate: it does not compare the TLS server name with the CONNECT name; and
// the allow-list proxy dials directly, never through a proxy of the host,
// because the addresses behind a name could then not be checked.
package egress

import (
	"crypto/rand"
	"net"
	"strconv"
	"time"

	"sandboxrun/sandbox/egress/body"
	"sandboxrun/sandbox/egress/tunnel"
)

// Ports on which the guest listens on 127.0.0.1 inside the box.
const (
	BrokerPort = tunnel.BrokerPort // plain HTTP: the credential broker
	ProxyPort  = tunnel.ProxyPort  // HTTP CONNECT and absolute-form proxy
)

// BrokerURL returns the base URL at which a process in the box finds the named
// provider, for example http://127.0.0.1:18470/anthropic.
func BrokerURL(provider string) string {
	return "http://" + net.JoinHostPort(tunnel.Loopback, strconv.Itoa(BrokerPort)) + "/" + provider
}

// Env returns the variables, as NAME=value, that point programs in the box at the proxy and exempt loopback, and so
// the broker. Both spellings are set because curl reads http_proxy only in lower case while others read only the upper
// one.
func Env() []string {
	proxy := "http://" + net.JoinHostPort(tunnel.Loopback, strconv.Itoa(ProxyPort))
	const direct = "127.0.0.1,localhost,::1"
	return []string{
		"HTTP_PROXY=" + proxy, "http_proxy=" + proxy,
		"HTTPS_PROXY=" + proxy, "https_proxy=" + proxy,
		"NO_PROXY=" + direct, "no_proxy=" + direct,
	}
}

// NewToken returns a fresh placeholder with at least 128 random bits. A box gets it in place of a key; only its own
// [Gate] accepts it.
func NewToken() string {
	return "sandboxrun-placeholder-" + rand.Text()
}

// Grant is something a provider does for a request beyond answering it: see package body.
type Grant = body.Grant

// Policy is what the model requests of one run may ask for.
type Policy = body.Policy

// Grants returns every grant.
func Grants() []Grant { return body.Grants() }

// Limits bounds what one box may use. A zero field takes the default.
type Limits struct {
	Streams     int   // streams at a time; default 160, more than our guest opens
	TunnelBytes int64 // bytes the box may send through the tunnel in all; default 16 GiB

	Requests    int           // broker: requests forwarded in all; default 10 000
	RequestBody int64         // broker: bytes of one request body; default 32 MiB
	HeldBytes   int64         // broker: bytes of request bodies in memory at one time; default 32 MiB, at least RequestBody
	BrokerBytes int64         // broker: bytes of request and response bodies in all; default 4 GiB
	RequestTime time.Duration // broker: one request from start to end; default 30 min

	ConnectionBytes int64         // proxy: bytes of one connection, both ways; default 4 GiB
	ConnectionTime  time.Duration // proxy: one connection from start to end; default 1 h
	ConnectionIdle  time.Duration // proxy: without a byte; default 5 min
}

func (l Limits) withDefaults() Limits {
	setDefault(&l.Streams, 160)
	setDefault(&l.TunnelBytes, 16<<30)
	setDefault(&l.Requests, 10_000)
	setDefault(&l.RequestBody, 32<<20)
	setDefault(&l.HeldBytes, 32<<20)
	l.HeldBytes = max(l.HeldBytes, l.RequestBody)
	setDefault(&l.BrokerBytes, 4<<30)
	setDefault(&l.RequestTime, 30*time.Minute)
	setDefault(&l.ConnectionBytes, 4<<30)
	setDefault(&l.ConnectionTime, time.Hour)
	setDefault(&l.ConnectionIdle, 5*time.Minute)
	return l
}

func setDefault[T int | int64 | time.Duration](field *T, value T) {
	if *field <= 0 {
		*field = value
	}
}
