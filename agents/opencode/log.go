package opencode

import "sandboxrun/agents"

const (
	// maxKept bounds the messages and parts of a turn that are remembered.
	maxKept = 1 << 16
	// maxChildren bounds the sessions of subagents.
	maxChildren = 256
)

// callLog remembers what a turn has been told, because the server tells
// most of it more than once.
type callLog struct {
	roles    map[string]string    // of messages
	parts    map[string]bool      // that are done
	calls    map[string]*toolCall // that are open, by part
	byCall   map[string]string    // parts of open calls, by message and call id
	children map[string]string    // task calls by the session they opened
}

// toolCall is a tool call of the model.
type toolCall struct {
	tool    string
	action  agents.Action
	input   []byte
	message string // it is part of
	key     string // in byCall
	quiet   bool   // it may run for long without a word
	decided bool   // a request about it was
}

func newCallLog() callLog {
	return callLog{
		roles: map[string]string{}, parts: map[string]bool{}, calls: map[string]*toolCall{},
		byCall: map[string]string{}, children: map[string]string{},
	}
}

// message notes a message; fresh says that it is new, ok that it is within the bound.
func (l *callLog) message(id, role string) (fresh, ok bool) {
	if _, known := l.roles[id]; known {
		return false, true
	}
	if len(l.roles) >= maxKept {
		return false, false
	}
	l.roles[id] = role
	return true, true
}

// done marks a part as done; false means that it was, or is one too many.
func (l *callLog) done(part string) bool {
	if l.parts[part] || len(l.parts) >= maxKept {
		return false
	}
	l.parts[part] = true
	return true
}

// child notes which call opened a session; call is "" where that is not known yet.
func (l *callLog) child(session, call string) {
	if old, known := l.children[session]; known && (call == "" || old != "") || len(l.children) >= maxChildren {
		return
	}
	l.children[session] = call
}

// open notes a call.
func (l *callLog) open(part string, c toolCall) {
	l.calls[part] = &c
	l.byCall[c.key] = part
}

// close forgets a call.
func (l *callLog) close(part string) {
	c := l.calls[part]
	if c == nil {
		return
	}
	delete(l.calls, part)
	if l.byCall[c.key] == part {
		delete(l.byCall, c.key)
	}
}
