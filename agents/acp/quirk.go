package acp

import (
	"regexp"
	"strconv"

	"sandboxrun/agents"
)

// quirks is what one CLI does in its own way. The zero value is a CLI that
// does as the protocol says.
type quirks struct {
	model string // what the turn was started with, where the CLI does not say
	// tool names the tool of a call, which the protocol has no field for; ""
	// falls back to the kind of the call.
	tool func(u *sessionUpdate) string
	// mcp says that a tool is one of an MCP server.
	mcp func(tool string) bool
	// writes says that a call is in progress while the model still writes its
	// input, which the content of the call's updates shows as far as it got.
	writes bool
	// asked reads the command line from the text of a request to run one, for
	// where the call does not show it.
	asked func(text string) string
	// guard is the notification by which an extension of ours says that it is
	// there; nothing is prompted before it. "" is for a CLI without one.
	guard string
	// exit finds the exit code in the text of a command that failed, nil for a
	// CLI that reports it otherwise.
	exit *regexp.Regexp
	// titled says that the title of a command's call is its command line.
	titled bool
	// noise are methods and kinds of update of its own that mean nothing here.
	noise []string
	// noServers keeps the turn's MCP servers out of the session: the CLI got them otherwise.
	noServers bool
	// unserved says why the CLI starts none of the turn's MCP servers; "" says that it does.
	unserved string
	// loaded is the update that ends the replay of a loaded session; "" says that
	// the replay is over with the answer to session/load.
	loaded string
	// notice reads a chunk of the agent's message that is the CLI's own word.
	// fresh says that no message of the model is open.
	notice func(text string, fresh bool) noticeKind
	// verdict judges the answer to a prompt that says end_turn; nil is clean.
	verdict func(r promptResult) *turnFault
	// again says of an error of session/prompt that a connection broke which the
	// CLI did not try again.
	again func(e *turnFault) bool
	// usage reads the tokens of a prompt from its answer.
	usage func(r promptResult) (agents.Usage, bool)
	// cumulative says that the usage of a prompt covers the prompts before it.
	cumulative bool
	// questions are what a call asks the user, nil for any other. They are keyed
	// by their number, and so are the answers.
	questions func(u *sessionUpdate) []agents.Question
	// stays says that the CLI may not leave when its input ends, and gets a SIGTERM.
	stays bool
}

// failedWith is the exit code in the text of a command that failed; nil for none.
func (q quirks) failedWith(text string) *int {
	if q.exit == nil {
		return nil
	}
	m := q.exit.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	code, err := strconv.Atoi(m[1])
	if err != nil {
		return nil
	}
	return &code
}

// noticeKind is what a chunk of the CLI's own is.
type noticeKind int

const (
	noticeNone   noticeKind = iota // the model's words
	noticeSilent                   // nothing
	noticeRemark                   // a remark for people
	failedChunk                    // the model failed, when nothing follows
)

// turnFault is why a turn failed.
type turnFault struct {
	issue   string // one of our codes
	code    int    // of JSON-RPC, which agents also use for statuses of HTTP
	message string
}
