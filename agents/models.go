package agents

import (
	"slices"
	"strings"
)

// longContext is an ending by which a program's user asks for a larger context window of the model before it.
const longContext = "[1m]"

// ModelsAsked lists the models that a turn may ask the provider for, as patterns in which * stands for any text; named is
// the user's choice, "" for none. An empty list says that nobody knows them.
func (i Info) ModelsAsked(named string) []string {
	if named == "" {
		if len(i.Models) == 0 {
			return nil
		}
		return slices.Concat(i.Models, i.Helpers)
	}
	list := []string{named}
	plain := strings.TrimSuffix(named, longContext)
	if plain != named {
		list = append(list, plain)
	}
	// Some programs take the provider before the model.
	if _, after, ok := strings.Cut(plain, "/"); ok {
		list = append(list, after)
	}
	return slices.Concat(list, i.Aliases[plain], i.Helpers)
}
