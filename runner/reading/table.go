package reading

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/pelletier/go-toml/v2"
)

//go:embed table.toml
var tableText []byte

// Pattern is one row of the table: what forms of words demand which check.
type Pattern struct {
	Kind   string         `toml:"kind"`   // kind of check, or "command"
	Params map[string]any `toml:"params"` // parameters that do not come from the words
	// Object is the family of frames that the forms are the objects of, such as "stay"; "" where a form is a whole clause.
	Object string   `toml:"object"`
	Forms  []string `toml:"forms"` // RE2, with words of the table in braces; named groups become parameters
	Yes    []string `toml:"yes"`   // sentences that the row reads
	No     []string `toml:"no"`    // sentences that are near and that no row reads so

	Needs string `toml:"needs"` // what every clause that it reads holds; the subject of the kind where missing

	needs    *regexp.Regexp
	compiled []*form
	user     bool
}

// frame is what a clause says about its objects, such as "do not change …".
type frame struct {
	Family string   `toml:"family"`
	Forms  []string `toml:"forms"`

	compiled []*form
}

// table is the embedded file.
type table struct {
	Words    map[string]string `toml:"words"`
	Frames   []frame           `toml:"frame"`
	Patterns []Pattern         `toml:"pattern"`
	Subjects map[string]string `toml:"subjects"` // by kind
	Vague    []string          `toml:"vague"`
}

// Patterns are what sentences are read by.
type Patterns struct {
	clauses []Pattern // whole clauses; the user's first
	objects map[string][]Pattern
	frames  []frame
}

// Default are the patterns of this program.
var Default = sync.OnceValue(func() *Patterns {
	t := loadTable()
	p := &Patterns{objects: map[string][]Pattern{}, frames: t.Frames}
	for i := range p.frames {
		p.frames[i].compiled = t.forms(p.frames[i].Forms)
	}
	for _, row := range t.Patterns {
		row.compiled = t.forms(row.Forms)
		row.needs = regexp.MustCompile(`(?i)` + t.expand(cmp.Or(row.Needs, t.Subjects[row.Kind])))
		if row.Object == "" {
			p.clauses = append(p.clauses, row)
		} else {
			p.objects[row.Object] = append(p.objects[row.Object], row)
		}
	}
	return p
})

// loadTable reads the embedded file, which is a part of this program: a mistake in it panics.
var loadTable = sync.OnceValue(readTable)

func readTable() *table {
	t := &table{}
	d := toml.NewDecoder(strings.NewReader(string(tableText)))
	if err := d.DisallowUnknownFields().Decode(t); err != nil {
		panic(fmt.Sprintf("reading: table.toml: %v", err))
	}
	return t
}

// wordName is the place of a word of the table in a form.
var wordName = regexp.MustCompile(`\{([a-z_]+)\}`)

// expand puts the words of the table into a form.
func (t *table) expand(form string) string {
	for range 8 {
		if !wordName.MatchString(form) {
			return form
		}
		form = wordName.ReplaceAllStringFunc(form, func(name string) string {
			word, ok := t.Words[strings.Trim(name, "{}")]
			if !ok {
				panic(fmt.Sprintf("reading: table.toml: no word %s (there are: %v)", name, slices.Sorted(maps.Keys(t.Words))))
			}
			return "(?:" + word + ")"
		})
	}
	panic("reading: table.toml: words refer to one another in a circle")
}

// form is one expression for a whole clause, or for an object. Compiling all of them takes as long as a small run, so each is
// compiled when a clause first needs it.
type form struct {
	chinese bool // it has Chinese characters, or words of the table that begin with z: it fits only clauses with such characters
	regexp  func() *regexp.Regexp
}

// forms makes expressions that match a whole clause, whatever the case of its letters.
func (t *table) forms(list []string) []*form {
	out := make([]*form, len(list))
	for i, f := range list {
		text := t.expand(f)
		out[i] = &form{chinese: han(f) || strings.Contains(f, "{z"), regexp: sync.OnceValue(func() *regexp.Regexp {
			return regexp.MustCompile(`(?i)^(?:` + text + `)$`)
		})}
	}
	return out
}

// han says that a text has Chinese characters.
func han(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Han, r) })
}
