package closed

import "testing"

// What a later version adds breaks no caller who validates, and no test of this
// version overlooks it.
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
