package runner

import (
	"encoding/json"
	"fmt"

	"sandboxrun/runner/redact"
)

// clean returns the result with every known secret replaced in whatever field
// it stands, paths and hashes included; res itself when it holds none.
func clean(secrets *redact.Redactor, res *Result) *Result {
	doc, err := json.Marshal(res)
	if err != nil {
		panic(fmt.Sprintf("result document: %v", err)) // made of strings, numbers and times
	}
	hidden := secrets.JSON(doc)
	if string(hidden) == string(doc) {
		return res
	}
	var out Result
	if err := json.Unmarshal(hidden, &out); err != nil {
		panic(fmt.Sprintf("result document: %v", err)) // only strings differ
	}
	return &out
}
