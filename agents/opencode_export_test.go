package agents

import "net/http"

// OpencodeThrough is Opencode with wrap around the connection to its server.
func OpencodeThrough(wrap func(http.RoundTripper) http.RoundTripper) Agent { return opencode{wrap: wrap} }
