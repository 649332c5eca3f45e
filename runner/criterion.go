package runner

import "encoding/json"

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
