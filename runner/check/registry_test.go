package check

import "testing"

func TestAKindExplainsItselfOrIsNotRegistered(t *testing.T) {
	t.Parallel()
	if len(Kinds()) == 0 {
		t.Fatal("no kind is registered")
	}
	whole := Param{Name: "p", Help: "One line.", Type: Integer, Max: 1}
	with := func(change func(*Param)) []Param {
		p := whole
		change(&p)
		return []Param{whole, p}
	}
	for name, k := range map[string]Kind{
		"taken":                            Kinds()[0],
		"no name":                          {Help: "One line."},
		"no help":                          {Name: "new"},
		"parameter without name":           {Name: "new", Help: "One line.", Params: with(func(p *Param) { p.Name = "" })},
		"parameter called as kinds":        {Name: "new", Help: "One line.", Params: with(func(p *Param) { p.Name = kindMember })},
		"parameter without help":           {Name: "new", Help: "One line.", Params: with(func(p *Param) { p.Help = "" })},
		"parameter without type":           {Name: "new", Help: "One line.", Params: with(func(p *Param) { p.Type = "" })},
		"parameter that never fits":        {Name: "new", Help: "One line.", Params: with(func(p *Param) { p.Min = 2 })},
		"parameter declared a second time": {Name: "new", Help: "One line.", Params: with(func(*Param) {})},
	} {
		before := len(kinds)
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: is registered", name)
				}
			}()
			register(k, func(values) Check { return sentence{} })
		}()
		if len(kinds) != before {
			t.Errorf("%s: is a kind now", name)
		}
	}
}
