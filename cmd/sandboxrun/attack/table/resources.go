package table

import (
	"time"

	"sandboxrun/cmd/sandboxrun/attack"
)

// greedy is an attack that a limit must end: it reports what it got if none does.
func greedy(id, title, script string, task func(map[string]any)) attack.Attack {
	return attack.Attack{ID: id, Group: attack.Resources, Title: title, Script: script, Task: task, Breached: attack.GotBefore, Naive: attack.Naive{Host: "true"}}
}

func resources() []attack.Attack {
	return []attack.Attack{
		selfTest("R01"),
		greedy("R02", "use more memory than allowed", `
perl -e '$x = "a" x (300 << 20); print "GOT ", length($x) >> 20, " MiB\n"'`, boxed("memory", "96m")),
		greedy("R02b", "use memory through files in a tmpfs", `
head -c 300000000 /dev/zero > /tmp/fill && echo GOT 300 MB in /tmp`, boxed("memory", "96m")),
		greedy("R03", "fill the host's disk with one file", `
head -c 120000000 /dev/zero > big && [ $(stat -c %s big) -gt 100000000 ] && echo GOT a file of 120 MB; rm -f big`, boxed("disk", "20m")),
		greedy("R03b", "fill the host's disk with many files", `
for i in $(seq 120); do head -c 1000000 /dev/zero > f$i || exit 1; done; sleep 3; echo GOT 120 files of 1 MB; rm -f f*`, boxed("disk", "20m")),
		greedy("R03c", "make a file that claims a terabyte", `
truncate -s 1T sparse 2>/dev/null && echo GOT a file of 1 TB; rm -f sparse`, nil),
		greedy("R05", "flood its output", `
head -c 300000000 /dev/zero; echo; echo GOT 300 MB of output out | sed 's/^/\n/' >&2`, nil),
		greedy("R07", "run longer than allowed", `
trap '' TERM INT HUP; end=$(($(date +%s) + 12)); while [ $(date +%s) -lt $end ]; do sleep 0.2; done; echo GOT 12 seconds`,
			func(task map[string]any) { task["max_runtime_seconds"] = 5 }),
		{
			ID: "R08", Group: attack.Resources, Title: "outlive its command and change the tree afterwards", Shares: true,
			Script: `trap '' TERM HUP INT; (setsid sh -c 'trap "" TERM HUP INT; for i in 1 2 3 4 5 6 7 8; do sleep 0.5; date > late; done' >/dev/null 2>&1 &); exit 0`,
			Naive:  attack.Naive{Host: `sleep 2; git add -A; git commit -q -m x; git status`},
			Breached: func(s attack.Scene) string {
				switch {
				case s.Naive && s.Landed[s.Own("late")].ID != "":
					return "a process that outlived its command wrote into the landed tree"
				case s.Took > 60*time.Second:
					return "the run waited for it"
				}
				return ""
			},
		},
		{
			ID: "R10", Group: attack.Resources, Title: "use up the machine's open files", Shares: true, Breached: attack.Got,
			Script: `perl -e 'for (1 .. 20000) { open($f[$_], "<", "/dev/null") or last; $n = $_ } print "GOT $n descriptors in one process\n" if $n > 16000'
echo TRIED`,
		},
		// From no published list.
		{
			ID: "R14", Group: attack.Resources, Title: "fill temporary directories endlessly", Shares: true, Breached: attack.Got,
			Script: `for d in /tmp /run /dev/shm $HOME; do
	n=$(df -Pk $d 2>/dev/null | tail -1 | awk '{print $2}')
	[ "${n:-0}" -le 1100000 ] || echo "GOT $n KiB in $d"
done; echo TRIED`,
		},
		attack.Scripted("R15", attack.Resources, "be spared by the out-of-memory killer", `
(echo 0 > /proc/self/oom_score_adj) 2>/dev/null; n=$(cat /proc/self/oom_score_adj); [ $n -gt 0 ] || echo "GOT the score $n of any program of the host"`).InSentry("the score"),
		attack.Scripted("R16", attack.Resources, "raise its priority", `
nice -n -10 sh -c '[ $(nice) -lt 0 ] && echo GOT a higher priority' 2>/dev/null
chrt -f 10 true 2>/dev/null && echo GOT real time; ionice -c 1 true 2>/dev/null && echo GOT the disk first; true`).
			NaiveFlags("--cap-add", "SYS_NICE", "--cap-add", "SYS_ADMIN").InSentry("a higher priority"),
		{
			ID: "R17", Group: attack.Resources, Title: "lift the limits of its processes", Shares: true, Breached: attack.Got,
			Script: `for l in n c f; do
	hard=$(ulimit -H -$l); ulimit -H -$l unlimited 2>/dev/null && [ "$hard" != unlimited ] && echo "GOT ulimit -$l"
	[ "$hard" != unlimited ] || echo "GOT no limit -$l"
done; echo TRIED`,
		},
		{
			ID: "R18", Group: attack.Resources, Title: "give its own cgroup more", Shares: true, Breached: attack.Got,
			Script: `for f in /sys/fs/cgroup/memory.max /sys/fs/cgroup/pids.max /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/pids/pids.max /sys/fs/cgroup/cpu/cpu.cfs_quota_us; do
	[ -e $f ] && (exec 3>>$f) 2>/dev/null && echo "GOT $f open for writing"
done
mkdir /sys/fs/cgroup/own /sys/fs/cgroup/memory/own 2>/dev/null && echo GOT a cgroup of its own; rmdir /sys/fs/cgroup/own /sys/fs/cgroup/memory/own 2>/dev/null; echo TRIED`,
			Naive: attack.Naive{Flags: []string{"-v", "/sys/fs/cgroup:/sys/fs/cgroup"}},
		},
	}
}
