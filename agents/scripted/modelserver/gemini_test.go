package modelserver

import (
	"net/http"
	"reflect"
	"testing"
)

func TestGeminiTellsWhoIsAsking(t *testing.T) {
	t.Parallel()
	s := start(t, Step{Text: "the step"})
	for name, body := range map[string]string{
		"a search":            `{"tools":[{"googleSearch":{}}],"contents":[]}`,
		"a schema with tools": `{"tools":[{"functionDeclarations":[{"name":"x"}]}],"generationConfig":{"responseSchema":{"type":"OBJECT"}},"contents":[]}`,
		"a bare type":         `{"generationConfig":{"responseMimeType":"application/json"},"contents":[]}`,
	} {
		if r := post(t, s, "/v1beta/models/m:generateContent", []byte(body)); r.StatusCode != http.StatusOK {
			t.Errorf("%s: status %d", name, r.StatusCode)
		}
	}
	if v := decode(t, post(t, s, "/v1beta/models/m:countTokens", []byte(`{"tools":[{"functionDeclarations":[{"name":"x"}]}],"contents":[]}`)).Body); number(v["totalTokens"]) != inputTokens {
		t.Errorf("count = %v", v)
	}
	for _, path := range []string{"/v1beta/models/m:streamGenerateContent", "/v1beta/models/m:embedContent", "/v1beta/models/m"} {
		if r := post(t, s, path, []byte(`{}`)); r.StatusCode != http.StatusNotFound {
			t.Errorf("%s: status %d", path, r.StatusCode)
		}
	}
	for _, r := range s.Requests() {
		if r.Main {
			t.Errorf("%+v counts as the loop's", r)
		}
	}
	if s.Remaining() != 1 {
		t.Error("the step was taken")
	}
}

func TestGeminiResultsAndFaults(t *testing.T) {
	t.Parallel()
	s := start(t, Step{Fault: &Fault{Status: 429, RetryAfter: 7}})
	r := post(t, s, "/v1beta/models/m:generateContent", []byte(`{"tools":[{"functionDeclarations":[{"name":"x"}]}],"contents":[{"role":"user","parts":[
		{"functionResponse":{"id":"1","name":"x","response":{"error":"denied"}}},
		{"functionResponse":{"name":"y","response":{"other":{"a":1}}}}]}]}`))
	details := list(object(decode(t, r.Body)["error"])["details"])
	if len(details) != 1 || object(details[0])["retryDelay"] != "7s" {
		t.Errorf("details = %v", details)
	}
	want := []Result{{ID: "1", Text: "denied", IsError: true}, {ID: "y", Text: `{"other":{"a":1}}`}}
	if got := s.Requests()[0].Results; !reflect.DeepEqual(got, want) {
		t.Errorf("results = %+v, want %+v", got, want)
	}
}

func TestKeysAndListsOfModels(t *testing.T) {
	t.Parallel()
	s := start(t)
	for path, name := range map[string]string{"/v1/models": "Authorization", "/v1beta/models": "X-Goog-Api-Key"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		value := "k"
		if name == "Authorization" {
			value = "Bearer k"
		}
		req.Header.Set(name, value)
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		v := decode(t, resp.Body)
		_ = resp.Body.Close()
		if len(list(v["data"]))+len(list(v["models"])) != 1 {
			t.Errorf("%s: %v", path, v)
		}
	}
	for _, r := range s.Requests() {
		if r.Key != "k" || r.Main || r.Wire != "" {
			t.Errorf("request = %+v", r)
		}
	}
}
