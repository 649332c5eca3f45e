package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"sandboxrun/runner/document"
)

// maxFrame bounds one message of a client, in bytes: a task as a string in a document, and what is around it.
const maxFrame = 2*document.MaxDocument + 64<<10

// frames stands between the streams and the library, which ends the connection at the first line that is no message.
// Such a line is answered with an error instead, one that is too long is skipped without being held in memory.
type frames struct {
	*io.PipeReader // what the library reads: lines that are messages

	mu  sync.Mutex // held while one line is written
	out io.Writer
}

func newFrames(in io.Reader, out io.Writer) *frames {
	reader, writer := io.Pipe()
	f := &frames{PipeReader: reader, out: out}
	// The goroutine ends with in, or with the process: standard input cannot be closed under a reader.
	go func() { _ = writer.CloseWithError(f.pass(bufio.NewReaderSize(in, 64<<10), writer)) }()
	return f
}

// pass hands lines over until the input ends or the library reads no more.
func (f *frames) pass(in *bufio.Reader, to io.Writer) error {
	for {
		line, long, err := readLine(in)
		text := bytes.TrimSpace(line)
		switch {
		case long:
			f.complain(jsonrpc.CodeInvalidRequest, fmt.Sprintf("the message has more than %d bytes", maxFrame))
		case len(text) == 0:
		case !json.Valid(text):
			f.complain(jsonrpc.CodeParseError, "the line is no JSON")
		case !isMessage(text):
			f.complain(jsonrpc.CodeInvalidRequest, "the line is no message of JSON-RPC 2.0")
		default:
			if _, werr := to.Write(append(text, '\n')); werr != nil {
				return werr
			}
		}
		if err != nil {
			return err
		}
	}
}

// isMessage reports whether the library accepts a line. Batches are no part of the protocol any more, and end the library's
// connection where they are not what it expects.
func isMessage(text []byte) bool {
	_, err := jsonrpc.DecodeMessage(text)
	return text[0] == '{' && err == nil
}

// readLine reads up to the next newline. A line that is too long is read to its end and not kept. A line that the
// end of the input ends is one, too.
func readLine(in *bufio.Reader) (line []byte, long bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if !long && len(line)+len(part) > maxFrame {
			long, line = true, nil
		}
		if !long {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil {
			return line, long, err
		}
		return line, long, nil
	}
}

func (f *frames) complain(code int, message string) {
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": message}})
	if err == nil {
		_, _ = f.Write(append(text, '\n')) // a client that reads no more ends the connection by itself
	}
}

// Write sends one line.
func (f *frames) Write(line []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.out.Write(line)
}

func (f *frames) close() { _ = f.PipeReader.Close() }
