package egress

import "context"

// Budget bounds what the model requests of a run may cost together. It is used by several requests at one time.
type Budget interface {
	// Begin takes up a request before it is sent. input is an estimate of its tokens, output the most that its answer may
	// have, 0 where the request does not say. It may wait for other requests. After an error the request is refused with
	// that error, which the box sees, and End is not called.
	Begin(ctx context.Context, input, output int64) error
	// End says that a request has ended that began with these numbers, and how many tokens it used. ctx may have ended.
	End(ctx context.Context, input, output, used int64)
}

// bytesPerToken is how many bytes stand for a token where nobody counts them: about four of English text, so that the
// estimate is rather too high for an answer, which is sent in frames of many times its text.
const bytesPerToken = 4

// estimate is the number of tokens of a request that was not sent yet.
func (c *call) estimate() int64 { return int64(len(c.body)) / bytesPerToken }

// used is the number of tokens a request used, by the provider's count. What the provider did not count, because the
// client did not let it or left before the end, is estimated from the bytes: otherwise leaving would be free. A request
// that the provider refused is free.
func (c *call) used(input int64, whole bool) int64 {
	if c.rec.Status < 200 || c.rec.Status >= 300 || c.endpoint.free {
		return 0
	}
	u := c.rec.Usage
	in, out := u.InputTokens+u.CacheReadTokens+u.CacheWriteTokens, u.OutputTokens
	if in == 0 {
		in = input
	}
	if out == 0 || !whole {
		guess := c.rec.ResponseBytes / bytesPerToken
		if c.facts.Output > 0 {
			guess = min(guess, c.facts.Output)
		}
		out = max(out, guess)
	}
	return in + out
}
