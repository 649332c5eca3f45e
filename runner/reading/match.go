package reading

import (
	"regexp"
	"slices"
	"strings"
)

// match reads one clause. Patterns of the user go before those of the program; where two of one party disagree, nobody knows what the
// words mean.
func (p *Patterns) match(t *text, s, words string) (checks []Check, why string) {
	const twice = "two patterns read the same words in different ways"
	found := p.matchClauses(t, s, words, true)
	if len(found) == 0 {
		found = append(p.matchClauses(t, s, words, false), p.matchFrames(t, s, words)...)
	}
	if len(found) == 0 {
		return nil, ""
	}
	for _, other := range found[1:] {
		if !slices.EqualFunc(found[0], other, Check.same) {
			return nil, twice
		}
	}
	return found[0], ""
}

// matchClauses reads a clause by the patterns for whole clauses: those of the user, or those of the program.
func (p *Patterns) matchClauses(t *text, s, words string, user bool) (found [][]Check) {
	chinese := han(s)
	for i := range p.clauses {
		row := &p.clauses[i]
		if row.user != user || row.needs != nil && !row.needs.MatchString(s) {
			continue
		}
		for _, f := range row.compiled {
			if f.chinese != chinese && !user {
				continue
			}
			if got := row.read(t, f.regexp(), s, words); got != nil {
				found = append(found, got)
			}
		}
	}
	return found
}

// matchFrames reads a clause that says one thing about one or several objects.
func (p *Patterns) matchFrames(t *text, s, words string) (found [][]Check) {
	chinese := han(s)
	for _, fr := range p.frames {
		if !p.anyObject(fr.Family, s) {
			continue
		}
		for _, f := range fr.compiled {
			if f.chinese != chinese {
				continue
			}
			form := f.regexp()
			m := form.FindStringSubmatch(s)
			if m == nil {
				continue
			}
			if got := p.readObjects(t, fr.Family, m[form.SubexpIndex("objects")], words); got != nil {
				found = append(found, got)
			}
		}
	}
	return found
}

// anyObject says that a clause may speak of an object of the family.
func (p *Patterns) anyObject(family, s string) bool {
	return slices.ContainsFunc(p.objects[family], func(row Pattern) bool { return row.needs.MatchString(s) })
}

// readObjects reads objects that are listed together. One that is limited to a place must stand alone: in a list nobody knows how
// many of the objects the place belongs to.
func (p *Patterns) readObjects(t *text, family, objects, words string) []Check {
	if got, _ := p.readObject(t, family, objects, words); got != nil {
		return got
	}
	list := expressions()["list"].Split(objects, -1)
	if len(list) < 2 || len(list) > 12 {
		return nil
	}
	var checks []Check
	for _, o := range list {
		got, limited := p.readObject(t, family, strings.TrimSpace(o), words)
		if got == nil || limited {
			return nil
		}
		checks = append(checks, got...)
	}
	return checks
}

// readObject reads one object; limited says that it is one in a certain place, or with exceptions.
func (p *Patterns) readObject(t *text, family, object, words string) (checks []Check, limited bool) {
	for i := range p.objects[family] {
		row := &p.objects[family][i]
		if !row.needs.MatchString(object) {
			continue
		}
		for _, f := range row.compiled {
			form := f.regexp()
			got := row.read(t, form, object, words)
			if got == nil {
				continue
			}
			m := form.FindStringSubmatch(object)
			for _, name := range []string{"only", "except"} {
				at := form.SubexpIndex(name)
				limited = limited || at >= 0 && m[at] != ""
			}
			return got, limited
		}
	}
	return nil, false
}

// read makes checks of the words that a form matches; nil where it does not, or where a parameter makes no sense.
func (row *Pattern) read(t *text, form *regexp.Regexp, s, words string) []Check {
	if row.user {
		return row.readUser(form, t.plain(s), words)
	}
	m := form.FindStringSubmatch(s)
	if m == nil {
		return nil
	}
	groups := map[string]string{}
	for i, name := range form.SubexpNames() {
		if name != "" && m[i] != "" {
			groups[name] = m[i]
		}
	}
	if row.Kind == commandKind {
		return t.commands(groups, words)
	}
	params, ok := row.params(t, groups)
	if !ok {
		return nil
	}
	return []Check{{Kind: row.Kind, Params: params, Words: words}}
}

// sameSubject says that words speak of what checks are about: then they may say something else of it.
func (p *Patterns) sameSubject(words string, checks []Check) bool {
	for _, c := range checks {
		if subject := subjects()[c.Kind]; subject != nil && subject.MatchString(words) {
			return true
		}
	}
	return false
}
