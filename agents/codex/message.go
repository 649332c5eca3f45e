package codex

import (
	"encoding/json"
	"errors"

	"github.com/sourcegraph/jsonrpc2"
)

// frame is one line of the app server: a request with method and id, a
// notification with a method, or an answer with an id. Ids of both sides are
// numbered apart and collide, so the method decides.
type frame struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"` // as they came: what is approved must be what was shown
	Result json.RawMessage `json:"result"`
	Error  *jsonrpc2.Error `json:"error"`
}

// Our requests. Each is sent at most once in a turn, but for callSteer.
const (
	callInitialize uint64 = iota + 1
	callThread
	callStart
	callInterrupt
	callClean
	callSteer
)

// maxID bounds the id of a request, in bytes of JSON.
const maxID = 256

var errID = errors.New("id is no string and no positive number")

// readID reads the id of a frame. null and a missing one are none.
func readID(raw json.RawMessage) (id jsonrpc2.ID, err error) {
	if len(raw) == 0 || len(raw) > maxID || string(raw) == "null" {
		return id, errID
	}
	if err := json.Unmarshal(raw, &id); err != nil {
		return id, errID
	}
	return id, nil
}

// call sends a request of ours.
func (c *peer) call(id uint64, method string, params any) {
	r := jsonrpc2.Request{ID: jsonrpc2.ID{Num: id}, Method: method}
	if err := r.SetParams(params); err != nil {
		c.broken("encode " + method + ": " + err.Error())
		return
	}
	c.Send(r)
}

// notify sends a notification without parameters.
func (c *peer) notify(method string) { c.Send(jsonrpc2.Request{Method: method, Notif: true}) }

// reply answers a request of the CLI.
func (c *peer) reply(id jsonrpc2.ID, result any) {
	r := jsonrpc2.Response{ID: id}
	if err := r.SetResult(result); err != nil {
		c.refuse(id, "no answer can be given")
		return
	}
	c.Send(r)
}

// refuse answers a request with an error: Codex takes it for a refusal.
func (c *peer) refuse(id jsonrpc2.ID, message string) {
	c.Send(jsonrpc2.Response{ID: id, Error: &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: message}})
}
