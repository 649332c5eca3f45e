# Prepares an image of the user's for agents: the programs every box needs, and the authorities this machine trusts.
fail() {
	echo "sandboxrun: $*" >&2
	exit 1
}
for loader in /lib/ld-musl-*; do
	if [ -e "$loader" ]; then fail "the image is made with musl, as Alpine is: agents need one made with glibc, such as Debian's"; fi
done
bundle=/etc/ssl/certs/ca-certificates.crt
authorities() {
	if [ -s /etc/sandboxrun/ca.pem ]; then
		mkdir -p /etc/ssl/certs
		cp /etc/sandboxrun/ca.pem "$bundle"
	fi
}
authorities
missing=
for pair in bash:bash curl:curl git:git ps:procps rg:ripgrep tar:tar find:findutils; do
	command -v "${pair%:*}" >/dev/null 2>&1 || missing="$missing ${pair#*:}"
done
if [ ! -s "$bundle" ]; then missing="$missing ca-certificates"; fi
if [ -n "$missing" ]; then
	command -v apt-get >/dev/null 2>&1 || fail "the image lacks$missing and has no apt-get to install them with: install them in its Dockerfile"
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -q
	# shellcheck disable=SC2086 # a list of packages
	apt-get install -q -y --no-install-recommends $missing
	apt-get clean
	rm -rf /var/lib/apt/lists/*
	authorities # the package ca-certificates replaces the bundle by its own
fi
rm -rf /etc/sandboxrun
find / -xdev -type f -perm /6000 -exec chmod a-s {} +
