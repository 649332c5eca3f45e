package leak

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// The samples are put together here, so that no file of this project holds
// anything with the form of a token.
var (
	awsID    = "AKIA" + "Q3EGWL7P" + "ZXNM4T2Y"
	github   = "ghp_" + "w7Kd93nTqLx20VbYpRcE" + "5uJfHs81ZaMgOi6N"
	stripe   = "sk_" + "live_" + "51Hq8fKzD3mXw92LpTbVnR"
	random40 = "q7Zt1xV9" + "kLm3Rw8Yp2Ns" + "6Jd4Hg5Fb0Cv" + "TeUiXo"
)

func privateKey(t *testing.T) string {
	t.Helper()
	random := rand.New(rand.NewPCG(3, 4))
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	var b strings.Builder
	b.WriteString("-----BEGIN RSA " + "PRIVATE KEY-----\n")
	for range 48 {
		for range 64 {
			b.WriteByte(digits[random.IntN(len(digits))])
		}
		b.WriteByte('\n')
	}
	b.WriteString("-----END RSA " + "PRIVATE KEY-----\n")
	return b.String()
}

func rules(t testing.TB) *Rules {
	t.Helper()
	r, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestTokensAreFoundByTheirForm(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"\n\nid = \"" + awsID + "\"\n":                         "3 aws-access-token",
		"x\ntoken: " + github + "\n":                           "2 github-pat",
		"stripe.key = '" + stripe + "' # gitleaks:allow\n":     "1 stripe-access-token",
		"a\n" + privateKey(t):                                  "2 private-key",
		"api_key = \"" + random40 + "\"\n":                     "1 generic-api-key",
		"GITHUB_TOKEN=" + github + "\napi_key=" + awsID + "\n": "1 github-pat, 2 aws-access-token",
	} {
		hits, err := rules(t).Scan(t.Context(), "src/config.txt", text)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, h := range hits {
			got = append(got, fmt.Sprintf("%d %s", h.Line, h.Rule))
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%.60q: %v, want %s", text, got, want)
		}
	}
}

func TestOrdinaryTextHoldsNoSecrets(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "password = os.Getenv(\"PASSWORD\")\n", "api_key = \"${API_KEY}\"\ntoken = \"{{ token }}\"\n",
		"func TestTokenIsRefused(t *testing.T) { key := \"xxxxxxxxxxxxxxxxxxxx\" }\n",
		"the token of the parser is a word; see secret.go\n", "id = AKIA" + "IOSFODNN7EXAMPLE\n",
	} {
		if hits, err := rules(t).Scan(t.Context(), "a.go", text); err != nil || len(hits) != 0 {
			t.Errorf("%q: %+v %v", text, hits, err)
		}
	}
}

func TestPathsExcuseOnlyFromGuesses(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]int{"web/package-lock.json": 1, "web/package.json": 2} {
		text := "api_key = \"" + random40 + "\"\n" + github + "\n"
		if hits, err := rules(t).Scan(t.Context(), path, text); err != nil || len(hits) != want {
			t.Errorf("%s: %d hits, want %d (%v)", path, len(hits), want, err)
		}
	}
	for path, want := range map[string]string{"deploy/site.p12": "pkcs12-file", "deploy/site.txt": ""} {
		if got, err := rules(t).Path(path); err != nil || got != want {
			t.Errorf("%s: %q, want %q (%v)", path, got, want, err)
		}
	}
}

func TestASecretIsFoundWhereverTheBorderOfAPieceFalls(t *testing.T) {
	t.Parallel()
	key := privateKey(t)
	for at := pieceBytes - overlapBytes - 200; at < pieceBytes+200; at += 997 {
		lines := strings.Repeat("0123456789\n", at/11)
		text := lines + github + "\n" + key + strings.Repeat("y\n", pieceBytes)
		hits, err := rules(t).Scan(t.Context(), "a", text)
		if err != nil || len(hits) != 2 || hits[0].Line != at/11+1 || hits[1].Line != at/11+2 {
			t.Fatalf("at %d: %+v %v", at, hits, err)
		}
	}
}

func TestHitsAreBoundedAndNameNoSecret(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, "%s%03d\n", github[:len(github)-3], i)
	}
	hits, err := rules(t).Scan(t.Context(), "a", b.String())
	if err != nil || len(hits) != maxHits {
		t.Fatalf("%d hits, %v", len(hits), err)
	}
	if a, b := hits[0].Fingerprint(), hits[1].Fingerprint(); len(a) != 16 || a == b || strings.Contains(github, a) {
		t.Errorf("fingerprints %s and %s", a, b)
	}
	if !hits[5].In("x "+github[:len(github)-3]+"005") || hits[5].In("x") {
		t.Error("a hit does not know where it is")
	}
}

func TestAScanEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := rules(t).Scan(ctx, "a", strings.Repeat("api_key\n", 1<<20)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestEveryRuleCompiles(t *testing.T) {
	t.Parallel()
	for _, r := range rules(t).rules {
		if _, err := r.compile(); err != nil {
			t.Error(err)
		}
	}
	if n := len(rules(t).rules); n < 200 {
		t.Errorf("only %d rules", n)
	}
}

func BenchmarkScan(b *testing.B) {
	r := rules(b)
	for name, line := range map[string]string{
		"code": "\tif err := run(ctx, name); err != nil { return fmt.Errorf(\"run %s: %w\", name, err) } // the usual\n",
		"keys": "\tconst tokenKey = lookup(secret, api.Password) // key of the client's access token\n",
	} {
		text := strings.Repeat(line, (256<<10)/len(line))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, err := r.Scan(b.Context(), "a.go", text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
