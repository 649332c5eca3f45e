package table

import (
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"sandboxrun/cmd/sandboxrun/attack"
	"sandboxrun/runner/document"
)

// gitLarge lists those with too much to read.
func gitLarge() []attack.Attack {
	return []attack.Attack{
		{
			ID: "D06", Group: attack.GitDoS, Title: "a sparse .gitignore of 50 gigabytes", Shares: true,
			Script: `echo ok > ok; truncate -s 50G .gitignore || truncate -s 4G .gitignore`, Breached: attack.Stuck,
		},
		{
			ID: "D06l", Group: attack.GitDoS, Title: "a sparse file of a terabyte", Shares: true,
			Script: `echo ok > ok; truncate -s 1T big || truncate -s 4G big`, Breached: attack.Stuck,
		},
		{
			ID: "D08", Group: attack.GitDoS, Title: "a path of three thousand levels hides a file",
			Script: `echo ok > ok; perl -e 'for (1..3000) { mkdir "deeper" or die; chdir "deeper" or die } open F,">hidden"; print F "x"'`,
			Breached: func(s attack.Scene) string {
				if why := attack.Stuck(s); why != "" {
					return why
				}
				if !s.Has("disk_limit", "") && !slices.ContainsFunc(s.Result.Issues, func(i document.Issue) bool { return i.Code == "path_too_deep" }) {
					return "the omitted files are not reported"
				}
				return ""
			},
		},
		{
			ID: "D16", Group: attack.GitDoS, Title: "ignore patterns that take for ever", Shares: true,
			Script:   `echo ok > ok; perl -e 'open F,">.gitignore"; for (1..4000) { print F "*a*a*a*a*a*a*a*a*a*a*a*b$_\n" } for (1..40) { open G, ">" . "a" x 200 . $_; print G "x" }'`,
			Breached: attack.Stuck,
		},
		{
			ID: "D17", Group: attack.GitDoS, Title: "a directory of many thousand names", Shares: true,
			Script:   `echo ok > ok; perl -e 'mkdir "d"; for (1..20000) { symlink "x", "d/$_" }'`,
			Naive:    attack.Naive{Skip: "git only gets slow from it"},
			Breached: attack.Stuck,
		},
	}
}

// gitMany lists those with names whose comparison takes long.
func gitMany() []attack.Attack {
	return []attack.Attack{
		{
			ID: "D18", Group: attack.GitDoS, Title: "twenty thousand names that each may be the short form of any other",
			Script: `echo ok > ok; perl -e 'mkdir "s"; chdir "s"; for (1 .. 20000) { open F, ">", sprintf "%06x~%d.tex", $_, $_ % 10 } for (1 .. 2000) { open F, ">", sprintf "0000ff%06d.text", $_ }'`,
			Naive:  attack.Naive{Skip: "git does not compare names with one another"},
			Breached: func(s attack.Scene) string {
				if why := slow(s); why != "" {
					return why
				}
				return unrefused(s)
			},
		},
		{
			ID: "D18r", Group: attack.GitDoS, Title: "thousands of renamed files with the same content",
			Repo: func(_, own string) error {
				for i := range 3000 {
					if err := attack.WriteFile(filepath.Join(own, "was", strconv.Itoa(i)), "the same\n", 0o644); err != nil {
						return err
					}
				}
				return nil
			},
			Script: `echo ok > ok; mkdir is empty; for i in 0 1 2; do mkdir is/$i; done
				perl -e 'for (0 .. 2999) { rename "was/$_", "is/" . $_ % 3 . "/$_.moved"; open F, ">", "empty/$_" }'`,
			Naive: attack.Naive{Skip: "git bounds its search for renames"},
			Breached: func(s attack.Scene) string {
				if why := slow(s); why != "" {
					return why
				}
				return attack.Stuck(s)
			},
		},
	}
}

// slow reports that reading what the box left took far longer than making it.
func slow(s attack.Scene) string {
	if s.Hung || s.Took > 90*time.Second {
		return "it took " + s.Took.Round(time.Second).String()
	}
	return ""
}
