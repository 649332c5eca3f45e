package config

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sandboxrun/runner/document"
)

func TestServeSettingsAreCheckedFieldByField(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ doc, path string }{
		{`{"addr":"nowhere"}`, "/serve/addr"},
		{`{"addr":"example.org:80"}`, "/serve/addr"},
		{`{"addr":"127.0.0.1:70000"}`, "/serve/addr"},
		{`{"addr":"127.0.0.1:07311"}`, "/serve/addr"},
		{`{"addr":":7311"}`, "/serve/addr"},
		{`{"socket":"relative.sock"}`, "/serve/socket"},
		{`{"socket":"/run/../x"}`, "/serve/socket"},
		{`{"hosts":["UPPER.example"]}`, "/serve/hosts/0"},
		{`{"hosts":["dot.example."]}`, "/serve/hosts/0"},
		{`{"queue":0}`, "/serve/queue"},
		{`{"queue_wait_seconds":0}`, "/serve/queue_wait_seconds"},
		{`{"retries":4}`, "/serve/retries"},
		{`{"on_stop":"kill"}`, "/serve/on_stop"},
		{`{"repo_roots":["/a/../b"]}`, "/serve/repo_roots/0"},
		{`{"port":1}`, "/serve/port"},
	} {
		_, err := Decode([]byte(`{"serve":` + c.doc + `}`))
		bad, ok := errors.AsType[*document.InputError](err)
		if !ok || len(bad.Details) != 1 || bad.Details[0].Path != c.path {
			t.Errorf("%s: %v, want a problem at %s", c.doc, err, c.path)
		}
	}
}

func TestServeSettingsReplaceTheDefaults(t *testing.T) {
	t.Parallel()
	c, err := Decode([]byte(`{"serve":{"addr":"[::1]:80","hosts":["me.local"],"queue":5,"retries":-1,"on_stop":"stop","socket":"/run/me/s"}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := Serve{Addr: "[::1]:80", Socket: "/run/me/s", Hosts: []string{"me.local"}, MaxParallel: 2, Queue: 5, QueueWaitSeconds: 240,
		Retries: -1, OnStop: OnStopCancel, RepoRoots: []string{}}
	if diff := cmp.Diff(want, c.Over(Default()).Serve); diff != "" {
		t.Error(diff)
	}
	if !Loopback("[::1]:80") || !Loopback("localhost:80") || Loopback("0.0.0.0:80") || Loopback("[::]:80") {
		t.Error("loopback addresses are told apart wrongly")
	}
}
