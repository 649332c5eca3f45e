// Package egress is the only way out of a box that has no network.
//
// The box's main process is package guest: it listens on two loopback ports inside
// the box and carries every connection over one byte stream, the container's
// standard input and output, multiplexed with yamux. Outside, a [Gate] answers
// the other end. It offers exactly two services: the broker, which forwards the
// listed calls of a model provider and swaps the run's placeholder token for
// the real key, and the proxy, which connects to host names on an allow-list.
// Everything else is refused and recorded with the name that was asked for.
//
// Every byte that reaches a Gate is written by an attacker. A Gate therefore
// holds memory and goroutines in proportion to its [Limits] only, and ends the
// tunnel of a guest that breaks the protocol.
//
// What the gate does not do: it does not read request bodies, so tools that a
// provider runs on its own side (web fetch, remote MCP) are governed by the
// provider; it does not compare the TLS server name with the CONNECT name; and
// the allow-list proxy dials directly, never through a proxy of the host,
// because the addresses behind a name could then not be checked.
package egress

import (
	"crypto/rand"
	"net"
	"strconv"

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

// Env returns the variables, as NAME=value, that point programs in the box at
// the proxy and keep loopback, and so the broker, out of it. Both spellings are
// set because curl reads http_proxy only in lower case while others read only
// the upper one.
func Env() []string {
	proxy := "http://" + net.JoinHostPort(tunnel.Loopback, strconv.Itoa(ProxyPort))
	const direct = "127.0.0.1,localhost,::1"
	return []string{
		"HTTP_PROXY=" + proxy, "http_proxy=" + proxy,
		"HTTPS_PROXY=" + proxy, "https_proxy=" + proxy,
		"NO_PROXY=" + direct, "no_proxy=" + direct,
	}
}

// NewToken returns a fresh placeholder with at least 128 random bits. A box
// gets it in place of a key; it means nothing to anyone but one [Gate].
func NewToken() string {
	return "sandboxrun-placeholder-" + rand.Text()
}
