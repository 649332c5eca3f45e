package egress

import (
	"encoding/binary"
	"errors"
	"io"
)

// service says what a stream is for. It is part of the header that opens every
// stream of a tunnel, in either direction.
type service byte

const (
	serviceHello  service = 1 // guest → host: the listeners accept
	serviceBroker service = 2 // guest → host: HTTP to the broker
	serviceProxy  service = 3 // guest → host: HTTP to the proxy
	serviceNames  service = 4 // guest → host: names looked up in the box
	serviceDial   service = 5 // host → guest: connect to a loopback port of the box
)

// headerSize is fixed, so a reader never has to trust a length: four bytes
// magic and version, the service, a zero byte, a port in network order.
const headerSize = 8

var magic = [4]byte{'S', 'B', 'X', 1}

var errHeader = errors.New("bad stream header")

type header struct {
	service service
	port    uint16
}

func (h header) write(w io.Writer) error {
	var b [headerSize]byte
	copy(b[:], magic[:])
	b[4] = byte(h.service)
	binary.BigEndian.PutUint16(b[6:], h.port)
	_, err := w.Write(b[:])
	return err
}

func readHeader(r io.Reader) (header, error) {
	var b [headerSize]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return header{}, err
	}
	if [4]byte(b[:4]) != magic || b[5] != 0 {
		return header{}, errHeader
	}
	return header{service: service(b[4]), port: binary.BigEndian.Uint16(b[6:])}, nil
}
