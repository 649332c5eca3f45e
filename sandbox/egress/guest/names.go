package guest

import (
	"net"
	"strings"

	"sandboxrun/sandbox/egress/tunnel"

	"golang.org/x/net/dns/dnsmessage"
)

const (
	// maxDatagram is the size of a DNS query without extensions, RFC 1035 4.2.1,
	// with room for EDNS options.
	maxDatagram = 1232

	// pendingNames bounds the names waiting to be reported; more are dropped.
	pendingNames = 64
)

// names answers every DNS query with "no such name", so that programs that ignore the proxy fail at once, and reports
// the names to the host.
func (g *guest) names(conn net.PacketConn) {
	report := make(chan string, pendingNames)
	done := make(chan struct{})
	go func() {
		defer close(done)
		g.reportNames(report)
	}()
	defer func() {
		close(report)
		<-done
	}()
	buf := make([]byte, maxDatagram)
	for {
		n, from, err := conn.ReadFrom(buf)
		if err != nil {
			return
		}
		answer, name, ok := refuseName(buf[:n])
		if !ok {
			continue
		}
		select {
		case report <- name:
		default:
		}
		if _, err := conn.WriteTo(answer, from); err != nil {
			continue // this client is gone; the next one may not be
		}
	}
}

// reportNames sends names as one length byte and the text. After a failed write it only drains the channel, so that
// answering continues.
func (g *guest) reportNames(names <-chan string) {
	var st *tunnel.Stream
	for name := range names {
		if st == nil {
			opened, err := g.open(tunnel.ServiceNames)
			if err != nil {
				break
			}
			st = opened
			defer st.Close()
		}
		if _, err := st.Write(append([]byte{byte(len(name))}, name...)); err != nil {
			break
		}
	}
	for range names {
	}
}

// refuseName parses a query and builds the answer to it. ok is false unless it is a query with exactly one question.
func refuseName(query []byte) (answer []byte, name string, ok bool) {
	var p dnsmessage.Parser
	h, err := p.Start(query)
	if err != nil || h.Response {
		return nil, "", false
	}
	q, err := p.Question()
	if err != nil {
		return nil, "", false
	}
	name = strings.TrimSuffix(q.Name.String(), ".")
	if name == "" || len(name) > tunnel.MaxName {
		return nil, "", false
	}
	m := dnsmessage.Message{
		Header: dnsmessage.Header{
			ID: h.ID, Response: true, OpCode: h.OpCode,
			RecursionDesired: h.RecursionDesired, RecursionAvailable: true,
			RCode: dnsmessage.RCodeNameError,
		},
		Questions: []dnsmessage.Question{q},
	}
	answer, err = m.Pack()
	return answer, name, err == nil
}
