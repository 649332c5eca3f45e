package tunnel

import (
	"encoding/binary"
	"errors"
	"io"
	"time"
)

// Service is the purpose of a stream. It is part of the header that opens every stream of a tunnel, in either
// direction.
type Service byte

// The services.
const (
	ServiceHello  Service = 1 // guest → host: the listeners accept
	ServiceBroker Service = 2 // guest → host: HTTP to the broker
	ServiceProxy  Service = 3 // guest → host: HTTP to the proxy
	ServiceNames  Service = 4 // guest → host: names looked up in the box
	ServiceDial   Service = 5 // host → guest: connect to a loopback port of the box
)

// HeaderSize is fixed, so that no reader has to trust a length: four bytes magic and version, the service, a zero
// byte, a port in network order.
const HeaderSize = 8

// Magic begins every header: a name and a version.
var Magic = [4]byte{'S', 'B', 'X', 1}

var errHeader = errors.New("bad stream header")

// Header opens a stream.
type Header struct {
	Service Service
	Port    uint16
}

// Write sends the header.
func (h Header) Write(w io.Writer) error {
	var b [HeaderSize]byte
	copy(b[:], Magic[:])
	b[4] = byte(h.Service)
	binary.BigEndian.PutUint16(b[6:], h.Port)
	_, err := w.Write(b[:])
	return err
}

// ReadHeader reads a header; it fails on other bytes.
func ReadHeader(r io.Reader) (Header, error) {
	var b [HeaderSize]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return Header{}, err
	}
	if [4]byte(b[:4]) != Magic || b[5] != 0 {
		return Header{}, errHeader
	}
	return Header{Service: Service(b[4]), Port: binary.BigEndian.Uint16(b[6:])}, nil
}

// Constants both ends of a tunnel share. The ports lie below Linux's ephemeral range, so no outgoing connection in the
// box can take them.
const (
	Loopback   = "127.0.0.1"
	BrokerPort = 18470 // plain HTTP: the credential broker
	ProxyPort  = 18471 // HTTP CONNECT and absolute-form proxy

	// BrokerConns and ProxyConns are how many connections a guest carries at a time, separately for each port so that
	// downloads cannot starve the agent. Together they stay below the host's limit on streams.
	BrokerConns = 32
	ProxyConns  = 64
	// HeaderTimeout bounds how long a stream may take to send its header.
	HeaderTimeout = 10 * time.Second
	// MaxName is the longest name in the DNS, RFC 1035 section 2.3.4, in bytes.
	MaxName = 253
)

// Answers of the guest to a dial, one byte.
const (
	DialOK     = 0
	DialFailed = 1
)
