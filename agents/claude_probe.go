package agents

import "context"

// claudeProbe is a turn that ends after the handshake.
type claudeProbe struct {
	*claudeTurn
	answered bool
}

func (c *claudeProbe) hello() { c.send(claudeInitialize()) }

func (c *claudeProbe) line(_ context.Context, text []byte) {
	var f claudeFrame
	if decode(text, &f) != nil || f.Type != "control_response" {
		return
	}
	var r struct {
		Subtype string `json:"subtype"`
	}
	c.answered = decode(f.Response, &r) == nil && r.Subtype == "success"
	c.finish()
}
