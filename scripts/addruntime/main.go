// Command addruntime reads a Docker daemon configuration on standard input and
// writes it to standard output with one more OCI runtime, keeping everything
// else. Empty input is an empty configuration.
//
//	addruntime NAME PATH <daemon.json
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// maxConfig bounds the input in bytes; a real daemon.json has a few hundred.
const maxConfig = 1 << 20

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: addruntime NAME PATH <daemon.json")
		os.Exit(2)
	}
	config, err := io.ReadAll(io.LimitReader(os.Stdin, maxConfig))
	if err == nil {
		config, err = add(config, os.Args[1], os.Args[2])
	}
	if err == nil {
		_, err = os.Stdout.Write(config)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "addruntime:", err)
		os.Exit(1)
	}
}

// add returns config with the runtime registered under the key the engine reads; see "runtimes" in the dockerd
// reference.
func add(config []byte, name, path string) ([]byte, error) {
	if len(bytes.TrimSpace(config)) == 0 {
		config = []byte("{}")
	}
	all, err := object(config)
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	runtimes, err := object(all["runtimes"])
	if err != nil {
		return nil, fmt.Errorf("read runtimes: %w", err)
	}
	if runtimes[name], err = json.Marshal(map[string]string{"path": path}); err != nil {
		return nil, fmt.Errorf("write runtime: %w", err)
	}
	if all["runtimes"], err = json.Marshal(runtimes); err != nil {
		return nil, fmt.Errorf("write runtimes: %w", err)
	}
	out, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write configuration: %w", err)
	}
	return append(out, '\n'), nil
}

// object decodes a JSON object; null and nothing are an empty one.
func object(raw []byte) (map[string]json.RawMessage, error) {
	fields := map[string]json.RawMessage{}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &fields); err != nil {
			return nil, err
		}
	}
	if fields == nil { // null
		fields = map[string]json.RawMessage{}
	}
	return fields, nil
}
