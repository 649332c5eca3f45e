package table

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"sandboxrun/cmd/sandboxrun/attack"
)

// gitDoS lists attacks with files on which git or a careless reader hangs or fails, or which it follows.
func gitDoS() []attack.Attack {
	return slices.Concat(gitSpecial(), gitLarge(), gitNames(), []attack.Attack{waitingRepository()}, gitMany())
}

// gitSpecial lists those with special files.
func gitSpecial() []attack.Attack {
	return []attack.Attack{
		selfTest("D01"),
		attack.SpecialFile("D01a", "a FIFO as .gitattributes", `mkfifo .gitattributes`),
		attack.SpecialFile("D01t", "a FIFO in place of a tracked file", `rm f; mkfifo f`),
		attack.SpecialFile("D01g", "a FIFO as .git of a directory", `mkdir lib; mkfifo lib/fifo; mkfifo lib/.git; mkfifo .gitignore`),
		attack.SpecialFile("D01m", "a FIFO as .gitmodules and .mailmap, and a socket",
			`mkfifo $ROOT/.gitmodules $ROOT/.mailmap .gitattributes; perl -e 'use Socket; socket(S,PF_UNIX,SOCK_STREAM,0); bind(S,pack_sockaddr_un("sock"))'; mkfifo p`),
		{
			ID: "D01r", Group: attack.GitDoS, Title: "a FIFO as .git of the tree itself", Script: `echo ok > ok; cd $ROOT; rm -rf .git; mkfifo .git`, Breached: attack.Stuck,
		},
		{
			ID: "D02", Group: attack.GitDoS, Title: "device nodes and sockets on the host",
			Script: `echo ok > ok; mknod null c 1 3; mknod disk b 8 0; mknod white c 0 0; rm $ROOT/old.txt; mknod $ROOT/old.txt c 0 0
				perl -e 'use Socket; socket(S,PF_UNIX,SOCK_STREAM,0); bind(S,pack_sockaddr_un("sock"))'`,
			Breached: special,
		},
		{
			ID: "D05", Group: attack.GitDoS, Title: "a background process swaps a directory for a link to the host's files",
			Script: `mkdir d; echo harmless > d/secret; ln -s "$OUT" s; echo ok > ok
				setsid sh -c 'while :; do mv d x; mv s d; mv d s; mv x d; done' > /dev/null 2>&1 < /dev/null & `,
			// Until it has read the secret: how often it meets the link depends on the machine.
			Naive:    attack.Naive{Host: `timeout 3 sh -c 'while :; do read -r x < d05/d/secret && [ "$x" != harmless ] && echo "$x" && exit; done' 2> /dev/null`},
			Breached: followed,
		},
		{
			ID: "D11", Group: attack.GitDoS, Title: "locks left in the repository",
			Script: `echo ok > ok; for l in index HEAD packed-refs shallow config refs/heads/main; do : > $ROOT/.git/$l.lock; done`, Breached: attack.Stuck,
		},
		{
			ID: "D12", Group: attack.GitDoS, Title: "files and directories without any permission",
			Script:   `echo ok > ok; mkdir -p a/b ro; echo 1 > a/b/1; echo 2 > 2; echo 3 > ro/3; chmod 0 2 a/b a; chmod 0555 ro`,
			Naive:    attack.Naive{Skip: "git run by root reads and removes everything"},
			Breached: func(s attack.Scene) string { return attack.Missing(s, "ok", "a/b/1", "2", "ro/3") },
			Shares:   true,
		},
		{
			ID: "D21", Group: attack.GitDoS, Title: "index is a directory and HEAD a link",
			Script: `echo ok > ok; cd $ROOT/.git; rm -f index; mkdir index; rm HEAD; ln -s /proc/self/environ HEAD`, Breached: attack.Stuck,
		},
		{
			ID: "D22", Group: attack.GitDoS, Title: "file capabilities and attributes of the overlay reach the host",
			// setxattr is 188; the capability is cap_setuid, permitted and effective, version 2.
			Script: `echo ok > ok; cp /bin/true cap; mkdir opaque; echo x > opaque/x
				perl -e 'my $v=pack("V5",0x02000001,0x80,0,0,0); my ($cap,$dir,$ok)=("cap","opaque","ok"); my $c="security.capability"; syscall(188,$cap,$c,$v,20,0);
				for my $k ("user.overlay.opaque","user.overlay.whiteout","user.overlay.metacopy","trusted.overlay.opaque"){ my ($n,$y)=($k,"y"); syscall(188,$dir,$n,$y,1,0); syscall(188,$ok,$n,$y,1,0) }
				for my $n ("user.overlay.redirect","trusted.overlay.redirect") { for my $to ("/d06","/","../..","README.md") {
					my ($k,$r)=($n,$to); for my $call (188,189) { syscall($call,$dir,$k,$r,length $r,0) }
					opendir my $d, $dir or die; syscall(190,fileno $d,$k,$r,length $r,0) } }'`,
			Skip:     onlyAMD64,
			Breached: capabilities,
		},
		{
			ID: "D30", Group: attack.GitDoS, Title: "names that mean deletions in image layers",
			Repo:   func(_, own string) error { return attack.WriteFile(filepath.Join(own, "dir/inside"), "x\n", 0o644) },
			Script: `echo ok > ok; echo x > .wh.dir; echo x > dir/.wh.inside; echo x > dir/.wh..wh..opq; echo x > .wh..wh.aufs; echo more >> dir/inside`,
			Naive:  attack.Naive{Skip: "only a counterpart that captures image layers is affected"},
			Shares: true,
			Breached: func(s attack.Scene) string {
				return attack.Missing(s, "ok", "dir/inside", ".wh.dir", "dir/.wh.inside", "dir/.wh..wh..opq")
			},
		},
	}
}

// waitingRepository is a repository that somebody else made: git waits at some of its files for ever.
func waitingRepository() attack.Attack {
	names := []string{"packed-refs", "shallow", "refs/heads/waits", "refs/tags/waits", "objects/info/alternates", "objects/pack/pack-" + strings.Repeat("5", 40) + ".idx",
		"objects/pack/pack-" + strings.Repeat("5", 40) + ".pack", "info/exclude"}
	return attack.Attack{
		ID: "D31", Group: attack.GitDoS, Title: "FIFOs among the files of the user's repository", Script: "echo ok > ok", Alters: true,
		Host: func(_ context.Context, h *attack.Host) error {
			// They are there during the run only: the lab reads the repository with git.
			h.Meanwhile = func(ctx context.Context) {
				for _, name := range names {
					name = filepath.Join(h.Repo, ".git", name)
					_ = os.Rename(name, name+".was") // those that git made
					_ = unix.Mkfifo(name, 0o644)     // what cannot be made makes no attack, which the naive counterpart shows
				}
				<-ctx.Done()
				for _, name := range names {
					name = filepath.Join(h.Repo, ".git", name)
					_ = os.Remove(name)
					_ = os.Rename(name+".was", name)
				}
			}
			return nil
		},
		Naive: attack.Naive{Host: `timeout 3 git log --all > /dev/null 2>&1; [ $? != 124 ] || touch "$OUT/waits"; find .git -type p -delete`},
		Breached: func(s attack.Scene) string {
			if _, err := os.Stat(filepath.Join(s.Host.Out, "waits")); err == nil || s.Hung {
				return "the host waits at a FIFO"
			}
			return ""
		},
	}
}

// gitNames lists those with names that other systems interpret differently.
func gitNames() []attack.Attack {
	return []attack.Attack{
		{
			ID: "D09", Group: attack.GitDoS, Title: "names that some file system treats as \".git\"", Shares: true,
			Script: `echo ok > ok; for n in .GIT .Git 'git~1' .git. '.git ' '.git::$INDEX_ALLOCATION' '.git\\x' "$(printf '.g\342\200\214it')"; do
				mkdir -p "n/$n/hooks"; echo x > "n/$n/config"; done`,
			Breached: func(s attack.Scene) string {
				for p := range s.Landed {
					if strings.HasPrefix(p, s.Own("n")+"/") {
						return "landed: " + p
					}
				}
				return attack.Stuck(s)
			},
		},
		{
			ID: "D09n", Group: attack.GitDoS, Title: "names that mislead a reader or a shell",
			Script: `echo ok > ok; for n in "$(printf 'a\nb')" "$(printf 'a\033[31mb')" -rf ' lead' 'trail ' CON 'a:b' "$(printf 'x\342\200\256txt.exe')"; do echo x > "./$n"; done
				echo x > "$(perl -e 'print "n" x 255')"`,
			After: [][]string{{"runs", "show", "RUN"}, {"runs", "list"}},
			Breached: func(s attack.Scene) string {
				for _, n := range []string{"a\nb", "a\x1b[31mb", "-rf", " lead", "trail ", "CON", "a:b", "x\u202etxt.exe"} {
					if _, ok := s.Landed[s.Own(n)]; !ok || !s.Has("dangerous_path", "") {
						return s.Own(n) + " misleads and nobody says so"
					}
				}
				for _, i := range s.After {
					if bytes.ContainsAny(i.Stdout, "\x1b\u202e") {
						return "the report sends the box's escape sequences to the terminal"
					}
				}
				return attack.Stuck(s)
			},
		},
		{
			ID: "D10", Group: attack.GitDoS, Title: "names that differ in case or form only",
			Script: `echo ok > ok; mkdir A; echo x > A/x; ln -s A a; echo 1 > Readme; echo 2 > README; echo 1 > "$(printf 'e\314\201')"; echo 2 > "$(printf '\303\251')"`,
			Breached: func(s attack.Scene) string {
				n := 0
				for _, i := range s.Result.Issues {
					if i.Code == "case_collision" && strings.HasPrefix(i.Path, s.Own()+"/") {
						n++
					}
				}
				if n < 3 {
					return "collisions are not reported"
				}
				return unrefused(s)
			},
		},
	}
}

// special reports that nodes and sockets of the box are on the host, or that they hide a deletion.
func special(s attack.Scene) string {
	for p, is := range s.Then {
		if was := s.Before[p]; was != is && is != "" && strings.ContainsRune("DcSp", rune(is[0])) {
			return "on the host: " + p + " " + is
		}
	}
	if s.Changed("old.txt") != "deleted" {
		return "a deleted file is not reported"
	}
	return attack.Missing(s, "ok")
}

// followed reports that a swapped link was followed.
func followed(s attack.Scene) string {
	if l := s.Leaked(); l != "" {
		return l
	}
	if s.Hung {
		return "the host hangs"
	}
	return ""
}

// capabilities reports that file capabilities reached the host.
func capabilities(s attack.Scene) string {
	if s.Capable[s.Own("cap")] {
		return "a program of the box has capabilities on the host"
	}
	for path := range s.Landed {
		if strings.HasPrefix(path, s.Own("opaque")+"/") && path != s.Own("opaque/x") {
			return "a directory shows what another one has: " + path
		}
	}
	return attack.Missing(s, "ok", "opaque/x")
}
