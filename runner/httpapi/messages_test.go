package httpapi

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"strings"
)

// message is one message of a stream of server-sent events.
type message struct{ id, event, data string }

// messages reads the messages of a stream until do is false or the stream ends.
func (r *rig) messages(req *http.Request, do func(message) bool, status ...*int) error {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	for _, at := range status {
		*at = res.StatusCode
	}
	lines := bufio.NewReaderSize(res.Body, 64<<10)
	var m message
	for {
		line, err := lines.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		line = strings.TrimSuffix(line, "\n")
		switch name, value, _ := strings.Cut(line, ": "); {
		case line == "" && m != message{}:
			if !do(m) {
				return nil
			}
			m = message{}
		case name == "id":
			m.id = value
		case name == "event":
			m.event = value
		case name == "data":
			m.data = value
		}
	}
}
