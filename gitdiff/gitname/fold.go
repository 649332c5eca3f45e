package gitname

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Fold is what is left of a name on file systems without case, with one normal form, and with what HFS+ and NTFS
// take for nothing. A name that is nothing else stays as it is.
func Fold(name string) string {
	if !utf8.ValidString(name) {
		return name // different bytes are different names, or none
	}
	folded := Plain(name)
	for i := range len(folded) {
		if folded[i] >= 0x80 {
			folded = norm.NFC.String(cases.Fold().String(norm.NFC.String(folded)))
			break
		}
	}
	if folded == "" {
		return name
	}
	return folded
}

// shortName is the form of the names that NTFS makes up for programs that know eight characters and three.
var shortName = regexp.MustCompile(`^[^.~]{1,6}~[0-9](\.[^.]{0,3})?$`)

// blanks are dropped from a name when NTFS makes up a short one.
var blanks = strings.NewReplacer(" ", "", ".", "")

// ShortKey returns the part that a generated short name shares with the longer one it stands for. A name that [LongKey] gives the same
// key may be that one. ok is false for a name of another form.
func ShortKey(name string) (key string, ok bool) {
	if !shortName.MatchString(name) {
		return "", false
	}
	stem, extension, _ := strings.Cut(strings.ToLower(name), ".")
	return stem[:strings.LastIndexByte(stem, '~')] + "." + extension, true
}

// LongKey returns what remains of a name in the short one that NTFS makes up for it. ok is false for a name that needs no
// other.
func LongKey(name string) (key string, ok bool) {
	name, end := strings.ToLower(name), ""
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		name, end = name[:i], name[i+1:]
	}
	if len(name) <= 8 && len(end) <= 3 && !strings.ContainsAny(name, ". +,;=[]") {
		return "", false
	}
	name = blanks.Replace(name)
	return name[:min(6, len(name))] + "." + end[:min(3, len(end))], true
}
