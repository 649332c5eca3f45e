package closed

import (
	"bytes"
	"fmt"
	"reflect"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Kept checks that again, which is a stored document read into Go types and written once more, still says everything
// that stored says. It may say more.
func Kept(stored, again []byte) error {
	was, err := jsonschema.UnmarshalJSON(bytes.NewReader(stored))
	if err != nil {
		return fmt.Errorf("read stored document: %w", err)
	}
	is, err := jsonschema.UnmarshalJSON(bytes.NewReader(again))
	if err != nil {
		return fmt.Errorf("read document written again: %w", err)
	}
	return kept("", was, is)
}

func kept(at string, was, is any) error {
	switch was := was.(type) {
	case map[string]any:
		object, ok := is.(map[string]any)
		if !ok {
			return fmt.Errorf("%s is no object any more", at)
		}
		for name, value := range was {
			now, ok := object[name]
			if !ok {
				return fmt.Errorf("%s/%s is lost", at, name)
			}
			if err := kept(at+"/"+name, value, now); err != nil {
				return err
			}
		}
		return nil
	case []any:
		list, ok := is.([]any)
		if !ok || len(list) != len(was) {
			return fmt.Errorf("%s is another list", at)
		}
		for i := range was {
			if err := kept(fmt.Sprintf("%s/%d", at, i), was[i], list[i]); err != nil {
				return err
			}
		}
		return nil
	default:
		if !reflect.DeepEqual(was, is) {
			return fmt.Errorf("%s was %v and is %v", at, was, is)
		}
		return nil
	}
}
