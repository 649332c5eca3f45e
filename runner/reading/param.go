package reading

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"sandboxrun/runner/check"
)

// commandKind is the kind of rows that read a command.
const commandKind = "command"

// params makes the parameters of a check: those of the row, over them those of the groups. ok is false where the words cannot be a
// parameter: then the row does not read them.
func (row *Pattern) params(t *text, groups map[string]string) (_ json.RawMessage, ok bool) {
	members := map[string]any{}
	maps.Copy(members, row.Params)
	for name, words := range groups {
		switch {
		case name == "max", name == "below":
			n, ok := number(words)
			if name == "below" {
				n--
			}
			if !ok || n < 0 {
				return nil, false
			}
			members["max"] = n
		case name == "paths", name == "only", name == "except":
			globs := t.globs(words)
			if globs == nil {
				return nil, false
			}
			members[name] = globs
		case name == "anywhere": // a name of a directory that may be anywhere
			members["paths"] = []string{words, "**/" + words}
		case name == "allow":
			names := t.quoted(words)
			if names == nil {
				return nil, false
			}
			members[name] = names
		default:
			return nil, false
		}
	}
	return marshal(members), true
}

// globs are the paths of a list; nil where one of them is none.
func (t *text) globs(words string) []string {
	var list []string
	for _, r := range words {
		a, ok := t.atoms[r]
		if !ok {
			continue
		}
		g := a.glob()
		if g == "" {
			return nil
		}
		if !slices.Contains(list, g) {
			list = append(list, g)
		}
	}
	return list
}

// quoted are the pieces of a list that somebody set apart.
func (t *text) quoted(words string) []string {
	var list []string
	for _, r := range words {
		if a, ok := t.atoms[r]; ok {
			list = append(list, a.text)
		}
	}
	return list
}

// plain puts the pieces that were set apart back into words.
func (t *text) plain(words string) string {
	var b strings.Builder
	for _, r := range words {
		if a, ok := t.atoms[r]; ok {
			b.WriteString(a.text)
		} else {
			b.WriteRune(r)
		}
	}
	return strings.TrimSpace(b.String())
}

// smallNumbers are numbers in words.
var smallNumbers = sync.OnceValue(func() map[string]int64 {
	m := map[string]int64{"a single": 1, "a": 1, "single": 1, "a dozen": 12, "a hundred": 100, "one hundred": 100, "a thousand": 1000, "one thousand": 1000}
	for i, w := range strings.Fields(`zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
		eighteen nineteen twenty`) {
		m[w] = int64(i)
	}
	maps.Copy(m, map[string]int64{"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90})
	for w, n := range map[string]int64{"two": 2, "three": 3, "four": 4, "five": 5} {
		m[w+" hundred"], m[w+" thousand"] = n*100, n*1000
	}
	return m
})

// number reads digits, and numbers in English and Chinese words.
func number(words string) (n int64, ok bool) {
	words = strings.ToLower(strings.TrimSpace(words))
	digits := strings.ReplaceAll(words, ",", "")
	if n, err := strconv.ParseInt(digits, 10, 64); err == nil && n >= 0 && n <= 1_000_000_000 {
		return n, !strings.Contains(words, ",") || grouped.MatchString(words)
	}
	if n, ok = smallNumbers()[words]; ok {
		return n, true
	}
	return chineseNumber(words)
}

// grouped are digits in groups of three.
var grouped = regexp.MustCompile(`^[0-9]{1,3}(,[0-9]{3})+$`)

// chineseNumber reads numbers below ten thousand.
func chineseNumber(words string) (n int64, ok bool) {
	digits := map[rune]int64{'零': 0, '一': 1, '二': 2, '两': 2, '三': 3, '四': 4, '五': 5, '六': 6, '七': 7, '八': 8, '九': 9}
	units := map[rune]int64{'十': 10, '百': 100, '千': 1000}
	var digit, last int64 = -1, 10_000
	for _, r := range words {
		if d, is := digits[r]; is {
			if digit > 0 {
				return 0, false
			}
			digit = d
			continue
		}
		u, is := units[r]
		if !is || u >= last || digit == 0 || digit < 0 && (u != 10 || n > 0) {
			return 0, false
		}
		n += max(digit, 1) * u
		digit, last = -1, u
	}
	if digit > 0 {
		if n > 0 && last > 10 && !strings.ContainsRune(words, '零') {
			return 0, false // 三百五 is 350 in speech
		}
		n += digit
	}
	return n, words != ""
}

// unmeasured says why this version cannot measure a demand; "" where it can.
func unmeasured(c Check) string {
	if c.Command != "" {
		return ""
	}
	if _, err := check.New(c.Kind, c.Object()); err != nil {
		return fmt.Sprintf("this version does not measure %s", c.Object())
	}
	return ""
}
