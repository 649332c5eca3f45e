package document

import (
	"bytes"
	"encoding/json"
)

// commandCriterion is the JSON form of a criterion that is a command.
type commandCriterion struct {
	Command    string `json:"command"`
	ExpectExit int    `json:"expect_exit"`
}

// UnmarshalJSON reads a sentence or a command with its expected exit code.
func (c *Criterion) UnmarshalJSON(data []byte) error {
	*c = Criterion{}
	if data[0] != '{' {
		return json.Unmarshal(data, &c.Text)
	}
	var cc commandCriterion
	if err := json.Unmarshal(data, &cc); err != nil {
		return err
	}
	c.Command, c.ExpectExit = cc.Command, cc.ExpectExit
	return nil
}

// MarshalJSON writes the sentence or the command.
func (c Criterion) MarshalJSON() ([]byte, error) {
	if c.Command == "" {
		return json.Marshal(c.Text)
	}
	return json.Marshal(commandCriterion{Command: c.Command, ExpectExit: c.ExpectExit})
}

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
