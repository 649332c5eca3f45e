# Connects the agents, whose names are the arguments, with the Node.js they were tested with; the image keeps its own.
fail() {
	echo "sandboxrun: $*" >&2
	exit 1
}
node=/opt/agents/node
"$node/bin/node" --version || fail "Node.js of the agents does not run in this image: it needs glibc 2.28 or newer"
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$node/bin/npm"
ln -s ../lib/node_modules/npm/bin/npx-cli.js "$node/bin/npx"
command -v node >/dev/null 2>&1 || ln -s "$node/bin/node" "$node/bin/npm" "$node/bin/npx" /usr/local/bin/
for name; do
	found=$(command -v "$name" || true)
	case $found in
	/usr/local/bin/"$name") ;;
	"") fail "/usr/local/bin is not in the PATH of this image: add it in its Dockerfile" ;;
	*) fail "the image brings a $name of its own at $found, which would run instead: remove it in its Dockerfile" ;;
	esac
	program=$(readlink -f "$found")
	if [ "$(head -c 19 "$program" | tr -d '\0')" = '#!/usr/bin/env node' ]; then
		sed -i "1s|.*|#!$node/bin/node|" "$program"
	fi
done
