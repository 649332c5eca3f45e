package harness

import (
	"crypto/rand"
	_ "embed" // the recorder
	"fmt"
	"net/url"
	"strings"
)

//go:embed recorder.mjs
var recorder string

// Recording is a command with recorders beside it: what the runners that it starts report of single tests goes to a directory of the
// box outside the tree, which nothing can know beforehand.
type Recording struct {
	Argv []string // the command
	Read []string // prints the report, after the command has ended and whatever it left running was killed
}

// reportsVar names the directory to recorders.
const reportsVar = "SANDBOXRUN_REPORTS"

// usualReporter is the one that node --test has by itself, which a second one would replace.
const usualReporter = "data:text/javascript,import{spec,tap}from'node:test/reporters';" +
	"export%20default%20process.stdout.isTTY||parseInt(process.versions.node)>22?spec:tap"

// record is the script around a command. Its operands are the directory, the program that records for go, the option of node, and the command.
const record = `(umask 077 && mkdir "$1" "$1/bin") 2>/dev/null || exec /bin/sh -c "$4"
export SANDBOXRUN_REPORTS="$1"
if command -v go >/dev/null 2>&1 && ln -s "$2" "$1/bin/go"; then export PATH="$1/bin:$PATH"; fi
if [ -n "$3" ] && command -v node >/dev/null 2>&1; then
  export SANDBOXRUN_NODE_OPTIONS="$NODE_OPTIONS" NODE_OPTIONS="$NODE_OPTIONS $3 --test-reporter-destination=$1/node.out"
fi
exec /bin/sh -c "$4"`

// read prints what recorders wrote. Only regular files count, and only so many bytes.
const read = `kill -9 -1 2>/dev/null
cd "$1" 2>/dev/null || exit 0
for f in *.jsonl; do [ -f "$f" ] && [ ! -L "$f" ] && cat <"$f"; done | head -c "$2"`

// Record puts recorders beside a command. tempDir is a directory of the box that is empty at first, guest the path of this program there.
// texts are what else decides how the command is run: where that names a reporter for node, none is added.
func Record(text, tempDir, guest string, texts ...string) Recording {
	dir := tempDir + "/.reports-" + rand.Text()
	option := "--test-reporter=" + usualReporter + " --test-reporter-destination=stdout --test-reporter=data:text/javascript," + url.PathEscape(recorder)
	for _, t := range append(texts, text) {
		if strings.Contains(t, "--test-reporter") {
			option = ""
		}
	}
	return Recording{
		Argv: []string{"/bin/sh", "-c", record, "sh", dir, guest, option, text},
		Read: []string{"/bin/sh", "-c", read, "sh", dir, fmt.Sprint(MaxReportBytes + 1)},
	}
}
