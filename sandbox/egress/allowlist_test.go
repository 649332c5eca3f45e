package egress

import (
	"strings"
	"testing"
)

func TestParseAllow(t *testing.T) {
	t.Parallel()
	for entry, want := range map[string]string{
		"example.com":            "example.com",
		"Example.COM.":           "example.com",
		"example.com:8443":       "example.com:8443",
		"*.example.com":          "*.example.com",
		"*.example.com:80":       "*.example.com:80",
		"_a-b.x1.example":        "_a-b.x1.example",
		"8.8.8.8":                "8.8.8.8",
		"8.8.8.8:53":             "8.8.8.8:53",
		"2606:4700::1111":        "2606:4700::1111",
		"[2606:4700::1111]:8443": "[2606:4700::1111]:8443",
		"xn--bcher-kva.example":  "xn--bcher-kva.example",
	} {
		rule, err := ParseAllow(entry)
		if err != nil || rule.String() != want {
			t.Errorf("%q: %q, %v", entry, rule, err)
		}
	}
	for _, entry := range []string{
		"", ".", "*", "*.", "*.com", "*.*.com", "a*.com", "foo.*", "*example.com", "*.8.8.8.8", "*.[2606:4700::1111]",
		"https://example.com", "example.com/path", "user@example.com", "example.com:", "example.com:0", "example.com:080",
		"example.com:65536", "example.com:http", "example.com:+80", "exa mple.com", "example.com\r\nHost: x", "exämple.com", "a..b", "-a.com", "a-.com",
		"127.1", "0x7f.1", "0x7f000001", "2130706433", "0177.0.0.1", "1.2.3", "1.2.3.4.5", "1.2.3.0x4", "[1.2.3.4]",
		"127.0.0.1", "10.0.0.1:80", "169.254.169.254", "[::1]:80", "::1", "fe80::1", "fe80::1%eth0", "[::ffff:10.0.0.1]:80", "::ffff:127.0.0.1",
		strings.Repeat("a", 64) + ".com", strings.Repeat("a.", 127) + "com",
	} {
		if rule, err := ParseAllow(entry); err == nil {
			t.Errorf("%q: accepted as %q", entry, rule)
		}
	}
}

func TestRuleMatch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rule, host string
		port       uint16
		want       bool
	}{
		{"example.com", "example.com", 443, true},
		{"example.com", "example.com", 80, true},
		{"example.com", "example.com", 22, false},
		{"example.com", "www.example.com", 443, false},
		{"example.com", "notexample.com", 443, false},
		{"example.com:8443", "example.com", 8443, true},
		{"example.com:8443", "example.com", 443, false},
		{"*.example.com", "a.b.example.com", 443, true},
		{"*.example.com", "example.com", 443, false},
		{"*.example.com", "badexample.com", 443, false},
		{"*.example.com", "example.com.evil.test", 443, false},
		{"8.8.8.8", "8.8.8.8", 443, true},
		{"8.8.8.8", "8.8.4.4", 443, false},
	} {
		rule, err := ParseAllow(c.rule)
		if err != nil {
			t.Fatal(err)
		}
		if got := rule.match(c.host, c.port); got != c.want {
			t.Errorf("%s on %s:%d: %v", c.rule, c.host, c.port, got)
		}
	}
}

// FuzzParseAllow checks that a rule's canonical form means the same rule, and that accepted targets are plain.
func FuzzParseAllow(f *testing.F) {
	for _, seed := range []string{"example.com", "*.a.b:80", "[2606:4700::1]:1", "8.8.8.8", "0x7f.1", "::", "a:1:2", "]:1", "[", ":", "[]:0"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, entry string) {
		rule, err := ParseAllow(entry)
		if err != nil {
			return
		}
		again, err := ParseAllow(rule.String())
		if err != nil || again != rule {
			t.Errorf("%q: %q, then %q, %v", entry, rule, again, err)
		}
		if strings.ContainsAny(rule.host, "/@ \r\n\\%*") {
			t.Errorf("%q: host %q", entry, rule.host)
		}
	})
}
