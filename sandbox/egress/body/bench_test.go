package body

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// conversation is a request of about a mebibyte, as agents send them late in a task: tools with schemas, calls, and
// results that hold source text.
func conversation(tb testing.TB) []byte {
	tb.Helper()
	const line = "\tif err := run(ctx, \"möbius\"); err != nil { // the quotes and tabs are escaped in JSON\n\t\treturn err\n\t}\n"
	var tools, messages []any
	schema := map[string]any{"type": "object", "properties": map[string]any{"path": map[string]any{"type": "string", "description": strings.Repeat("words ", 40)}}}
	for i := range 40 {
		tools = append(tools, map[string]any{"name": fmt.Sprint("tool", i), "description": strings.Repeat("what it does ", 60), "input_schema": schema})
	}
	for i := range 300 {
		id := fmt.Sprint("toolu_", i)
		messages = append(messages,
			map[string]any{"role": "assistant", "content": []any{map[string]any{"type": "text", "text": "I look."}, map[string]any{"type": "tool_use", "id": id, "name": "tool1", "input": map[string]any{"path": "a/b.go"}}}},
			map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": []any{map[string]any{"type": "text", "text": strings.Repeat(line, 26)}}}}})
	}
	b, err := json.Marshal(map[string]any{"model": "m", "max_tokens": 32000, "stream": true, "tools": tools, "messages": messages})
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// BenchmarkRead reads a request of a mebibyte. Its time is also given as processor time of the one thread that reads,
// which says more on a busy machine.
func BenchmarkRead(b *testing.B) {
	request := conversation(b)
	b.SetBytes(int64(len(request)))
	b.ReportAllocs()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := threadTime(b)
	for b.Loop() {
		if _, err := Anthropic.Read(request, &Policy{Models: []string{"m"}}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(threadTime(b)-before)/float64(b.N), "cpu-ns/op")
}

// BenchmarkDecode decodes the same request without looking at it, for comparison.
func BenchmarkDecode(b *testing.B) {
	request := conversation(b)
	b.SetBytes(int64(len(request)))
	for b.Loop() {
		var v any
		if err := json.Unmarshal(request, &v); err != nil {
			b.Fatal(err)
		}
	}
}

// threadTime is the processor time of this thread.
func threadTime(tb testing.TB) time.Duration {
	tb.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestReadingTakesLittleMemory has the promise for a request of a mebibyte, at most eight with those of the body itself, and
// the worst that a body of 30 can be: no more than the tokenizer's copy of one key.
func TestReadingTakesLittleMemory(t *testing.T) {
	keys := &strings.Builder{}
	for i := range 250_000 {
		fmt.Fprintf(keys, `"%0115x":0,`, i)
	}
	schema := func(text string) []byte {
		return []byte(`{"model":"m","tools":[{"name":"a","input_schema":` + text + `}]}`)
	}
	for _, c := range []struct {
		name string
		body []byte
		most uint64
	}{
		{"conversation", conversation(t), 7 << 20},
		{"one key", schema(`{"` + strings.Repeat("k", 30<<20) + `":1}`), 48 << 20},
		{"unknown key", []byte(`{"` + strings.Repeat("k", 30<<20) + `":1}`), 48 << 20},
		{"many keys", schema("{" + keys.String() + `"end":1}`), 48 << 20},
		{"key in deep keys", schema(strings.Repeat(`{"`+strings.Repeat("/", maxName-3)+`":`, maxDepth-5) + `{"a":1,"a":2}` + strings.Repeat("}", maxDepth-5)), 8 << 20},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Anthropic.Read(c.body, &Policy{})
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > c.most {
			t.Errorf("%s: took %d bytes for a request of %d (%.100v)", c.name, took, len(c.body), err)
		}
	}
}
