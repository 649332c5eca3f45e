package runner

import (
	"bytes"
	"encoding/json"
)

// UnmarshalJSON reads a sentence or an object with a kind.
func (c *Constraint) UnmarshalJSON(data []byte) error {
	*c = Constraint{}
	if data[0] != '{' {
		return json.Unmarshal(data, &c.Text)
	}
	var head struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return err
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, data); err != nil {
		return err
	}
	c.Kind, c.Text, c.Params = head.Kind, compact.String(), compact.Bytes()
	return nil
}

// MarshalJSON writes what UnmarshalJSON read.
func (c Constraint) MarshalJSON() ([]byte, error) {
	if c.Kind == "" {
		return json.Marshal(c.Text)
	}
	return c.Params, nil
}
