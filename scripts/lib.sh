# Shared by the scripts of this directory; sourced, never run.
# It enters the project's root, puts the project's own tools first in PATH and
# defines functions to print, fail, wait and become root.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
ROOT=$PWD
CACHE=$ROOT/.cache
mkdir -p "$CACHE/bin" "$CACHE/logs"
PATH=$CACHE/go/bin:$CACHE/bin:$PATH
# shellcheck source=versions.sh
. scripts/versions.sh

say() { printf '==> %s\n' "$*" >&2; }

# die WHAT HAPPENED, AND WHAT TO DO: prints one sentence and exits.
die() {
	printf 'error: %s\n' "$*" >&2
	exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

# need_root WHY: makes sure that as_root works, before anything runs in the background where no password can be typed.
need_root() {
	[ "$(id -u)" = 0 ] && return
	have sudo || die "$1 needs root: run this as root, or install sudo."
	sudo -n true 2>/dev/null || sudo -v || die "$1 needs root: run this as root, or allow sudo for $(id -un)."
}

as_root() {
	if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# heartbeat START: prints every ten seconds how long something has been running, until it is killed or this script has
# ended.
heartbeat() {
	trap 'kill "$!" 2>/dev/null; exit 0' TERM
	while kill -0 $$ 2>/dev/null; do
		sleep 10 &
		wait $!
		printf '    … %d s\n' $((SECONDS - $1)) >&2
	done
}

# quietly LOG COMMAND…: runs a long command with its output in a log, prints every ten seconds that it still runs, and
# shows the end of the log when it failed.
quietly() {
	local log=$CACHE/logs/$1.log start=$SECONDS rc=0 beat
	shift
	heartbeat "$start" </dev/null >/dev/null &
	beat=$!
	"$@" >"$log" 2>&1 </dev/null || rc=$?
	kill "$beat" 2>/dev/null || true
	wait "$beat" 2>/dev/null || true
	if [ "$rc" != 0 ]; then
		printf '    the end of %s:\n' "$log" >&2
		tail -n 25 "$log" | sed 's/^/    | /' >&2
		return "$rc"
	fi
	if [ $((SECONDS - start)) -gt 1 ]; then printf '    done in %d s\n' $((SECONDS - start)) >&2; fi
}

# apt_install WHY PACKAGE…: installs packages of this Debian or Ubuntu machine.
apt_install() {
	local why=$1
	shift
	have apt-get || die "$why is missing and there is no apt-get here: install $* by hand, then run this again."
	need_root "installing $*"
	say "installing $* with apt ($why)"
	# One broken third-party list must not stop an install from a good one.
	quietly apt-update as_root apt-get update -q || say "apt-get update reported errors; trying with what it got"
	quietly apt-install as_root env DEBIAN_FRONTEND=noninteractive \
		apt-get install -q -y --no-install-recommends -o DPkg::Lock::Timeout=120 "$@" ||
		die "apt could not install $*: repair it (see above), then run this again."
}

# image_label IMAGE LABEL: prints the label, nothing when there is no such image.
image_label() {
	docker image inspect --format "{{index .Config.Labels \"$2\"}}" "$1" 2>/dev/null || true
}

# ca_bundle prints the path of this host's CA bundle, nothing without one.
ca_bundle() {
	local f
	for f in "${SSL_CERT_FILE:-}" /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/cert.pem; do
		if [ -n "$f" ] && [ -r "$f" ]; then
			printf '%s\n' "$f"
			return
		fi
	done
}

# build_args prints the --build-arg options that carry this host's proxies, one
# word per line: the engine does not see this shell's environment.
build_args() {
	local name
	for name in HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy; do
		if [ -n "${!name:-}" ]; then printf -- '--build-arg\n%s=%s\n' "$name" "${!name}"; fi
	done
}
