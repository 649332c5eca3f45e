package agents

const (
	// opencodeKept bounds the messages and parts of a turn that are remembered.
	opencodeKept = 1 << 16
	// opencodeChildren bounds the sessions of subagents.
	opencodeChildren = 256
)

// opencodeLog remembers what a turn has been told, because the server tells
// most of it more than once.
type opencodeLog struct {
	roles    map[string]string        // of messages
	parts    map[string]bool          // that are done
	calls    map[string]*opencodeCall // that are open, by part
	byCall   map[string]string        // parts of open calls, by message and call id
	children map[string]string        // task calls by the session they opened
}

// opencodeCall is a tool call of the model.
type opencodeCall struct {
	tool    string
	action  Action
	input   []byte
	message string // it is part of
	key     string // in byCall
	quiet   bool   // it may run for long without a word
	decided bool   // a request about it was
}

func newOpencodeLog() opencodeLog {
	return opencodeLog{
		roles: map[string]string{}, parts: map[string]bool{}, calls: map[string]*opencodeCall{},
		byCall: map[string]string{}, children: map[string]string{},
	}
}

// message notes a message; fresh says that it is new, ok that it is within the bound.
func (l *opencodeLog) message(id, role string) (fresh, ok bool) {
	if _, known := l.roles[id]; known {
		return false, true
	}
	if len(l.roles) >= opencodeKept {
		return false, false
	}
	l.roles[id] = role
	return true, true
}

// done marks a part as done; false means that it was, or is one too many.
func (l *opencodeLog) done(part string) bool {
	if l.parts[part] || len(l.parts) >= opencodeKept {
		return false
	}
	l.parts[part] = true
	return true
}

// child notes which call opened a session; call is "" where that is not known yet.
func (l *opencodeLog) child(session, call string) {
	if old, known := l.children[session]; known && (call == "" || old != "") || len(l.children) >= opencodeChildren {
		return
	}
	l.children[session] = call
}

// open notes a call.
func (l *opencodeLog) open(part string, c opencodeCall) {
	l.calls[part] = &c
	l.byCall[c.key] = part
}

// close forgets a call.
func (l *opencodeLog) close(part string) {
	c := l.calls[part]
	if c == nil {
		return
	}
	delete(l.calls, part)
	if l.byCall[c.key] == part {
		delete(l.byCall, c.key)
	}
}
