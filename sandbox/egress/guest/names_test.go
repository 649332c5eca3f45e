package guest

import (
	"encoding/binary"
	"testing"

	"sandboxrun/sandbox/egress/tunnel"

	"golang.org/x/net/dns/dnsmessage"
)

func TestRefuseNameIgnoresOtherMessages(t *testing.T) {
	t.Parallel()
	name := dnsmessage.MustNewName("a.example.")
	question := []dnsmessage.Question{{Name: name, Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET}}
	for what, m := range map[string]dnsmessage.Message{
		"an answer":   {Header: dnsmessage.Header{Response: true}, Questions: question},
		"no question": {},
	} {
		b, err := m.Pack()
		if err != nil {
			t.Fatal(err)
		}
		if _, _, ok := refuseName(b); ok {
			t.Errorf("answered %s", what)
		}
	}
	if _, _, ok := refuseName([]byte("garbage")); ok {
		t.Error("answered garbage")
	}
}

// FuzzRefuseName gives the guest's name service any datagram: an answer belongs to the query and says "no such name".
func FuzzRefuseName(f *testing.F) {
	query := func(names ...string) []byte {
		m := dnsmessage.Message{Header: dnsmessage.Header{ID: 7, RecursionDesired: true}}
		for _, n := range names {
			m.Questions = append(m.Questions, dnsmessage.Question{Name: dnsmessage.MustNewName(n), Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET})
		}
		b, err := m.Pack()
		if err != nil {
			f.Fatal(err)
		}
		return b
	}
	f.Add(query("example.com."))
	f.Add(query("a.", "b."))
	f.Add(query("."))
	f.Add([]byte("\x00\x07\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\xc0\x0c\x00\x01\x00\x01"))
	f.Fuzz(func(t *testing.T, datagram []byte) {
		answer, name, ok := refuseName(datagram)
		if !ok {
			return
		}
		var m dnsmessage.Message
		if err := m.Unpack(answer); err != nil {
			t.Fatal(err)
		}
		if m.ID != binary.BigEndian.Uint16(datagram) || !m.Response || m.RCode != dnsmessage.RCodeNameError || len(m.Answers) > 0 || len(m.Questions) != 1 {
			t.Errorf("answer %+v", m)
		}
		if name == "" || len(name) > tunnel.MaxName {
			t.Errorf("name %q", name)
		}
	})
}
