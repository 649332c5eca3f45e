package httpapi

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"sandboxrun/runner/httpapi/problem"
)

// preference reads what a caller prefers: not to wait, or to wait so long.
func preference(values []string) (wait time.Duration, async bool, err error) {
	for word := range strings.SplitSeq(strings.Join(values, ","), ",") {
		word = strings.ToLower(strings.TrimSpace(word))
		if word == "respond-async" {
			async = true
		}
		text, ok := strings.CutPrefix(word, "wait=")
		if !ok {
			continue // preferences that are not known are ignored, as RFC 7240 wants
		}
		seconds, perr := strconv.Atoi(text)
		if perr != nil || seconds < 0 || seconds > maxPatience {
			return 0, false, problem.New(problem.CodeBadParameter, "Prefer: wait must be a number of seconds up to %d", maxPatience)
		}
		wait, async = time.Duration(seconds)*time.Second, true
	}
	return wait, async, nil
}

// maxPatience is the longest time a caller may want to wait, in seconds.
const maxPatience = 86_400

// readBody reads the body of a request that the library does not read.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTimeout)) // without one the server's own holds
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	large := (*http.MaxBytesError)(nil)
	switch {
	case errors.As(err, &large):
		return nil, problem.New(problem.CodeTooLarge, "the body has more than %d bytes", maxBody)
	case err != nil && r.Context().Err() == nil:
		return nil, problem.New(problem.CodeTimeout, "the body did not arrive within %s", bodyTimeout)
	case err != nil:
		return nil, problem.New(problem.CodeMalformed, "the body did not arrive")
	case len(data) == 0:
		return nil, problem.New(problem.CodeMalformed, "the body is empty")
	}
	return data, nil
}
