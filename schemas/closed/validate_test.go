package closed

import "testing"

// A later version's addition breaks no caller who validates, and no test of this version overlooks it.
func TestAnAdditionPassesTheShippedSchemaOnly(t *testing.T) {
	t.Parallel()
	for name, doc := range map[string]string{
		"known":    `{"error":{"type":"internal","message":"m"}}`,
		"addition": `{"error":{"type":"internal","message":"m","later":1},"later":2}`,
	} {
		if err := ValidateOpen("error", []byte(doc)); err != nil {
			t.Errorf("%s: the shipped schema refuses it: %v", name, err)
		}
		if err := Validate("error", []byte(doc)); (err == nil) != (name == "known") {
			t.Errorf("%s: the closed variant says %v", name, err)
		}
	}
}

// A schema whose forms depend on a field is closed as it is shipped, and stays as it is.
func TestWhatCallersWriteIsClosedInBothVariants(t *testing.T) {
	t.Parallel()
	for doc, valid := range map[string]bool{
		`{"kind":"max_files_changed","max":1}`:               true,
		`"be brief"`:                                         true,
		`{"kind":"max_files_changed","max":1,"paths":["a"]}`: false,
		`{"kind":"max_files_changed"}`:                       false,
		`{"kind":"nobody"}`:                                  false,
		`{"max":1}`:                                          false,
		`1`:                                                  false,
	} {
		task := []byte(`{"objective":"o","context":{"repo_root":"/r"},"constraints":[` + doc + `]}`)
		for name, err := range map[string]error{"closed": Validate("task", task), "shipped": ValidateOpen("task", task)} {
			if (err == nil) != valid {
				t.Errorf("%s: the %s variant says %v", doc, name, err)
			}
		}
	}
}
