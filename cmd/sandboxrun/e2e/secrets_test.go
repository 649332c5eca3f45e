package e2e

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sandboxrun/agents/scripted/modelserver"
	"sandboxrun/runner/document"
)

// spellings are the literal forms of a secret that no record may contain.
func spellings(secret string) map[string]string {
	v := []byte(secret)
	out := map[string]string{
		"raw": secret, "half": secret[len(secret)/2:], "hex": hex.EncodeToString(v), "HEX": strings.ToUpper(hex.EncodeToString(v)),
		"hex bytes": fmt.Sprintf("% x", v), "percent": strings.ReplaceAll(secret, "-", "%2D"), "percent lower": strings.ReplaceAll(secret, "-", "%2d"),
		"query": url.QueryEscape(secret), "JSON": strings.ReplaceAll(secret, "-", `\u002d`), "JSON in JSON": strings.ReplaceAll(secret, "-", `\\u002d`),
	}
	for shift := range 3 { // the part that does not depend on the surrounding text
		text := base64.StdEncoding.EncodeToString(append(make([]byte, shift), v...))
		out[fmt.Sprintf("base64 at %d", shift)] = text[4 : len(text)-4]
	}
	return out
}

// spelled lists the spellings of a secret in a text.
func spelled(text []byte, secret string) []string {
	var out []string
	whole := string(text)
	flat := strings.NewReplacer("\\n", "", "\n", "").Replace(whole) // base64 comes in lines
	for name, s := range spellings(secret) {
		if strings.Contains(whole, s) || strings.Contains(flat, s) {
			out = append(out, name)
		}
	}
	return out
}

// records collects everything the program wrote about a run: its streams, and every
// file of its state and of dir.
func records(t *testing.T, r *rig, o outcome, dir string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{"standard output": o.stdout, "standard error": o.stderr}
	for _, root := range []string{r.state, dir} {
		err := filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			all[p], err = os.ReadFile(p)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func assertUntold(t *testing.T, all map[string][]byte, secret string) {
	t.Helper()
	for name, text := range all {
		if got := spelled(text, secret); len(got) > 0 {
			t.Errorf("%s contains a secret: %v", name, got)
		}
	}
}

// assemble builds the key from parts, so that the command does not contain it.
const assemble = "k=sk-ant-e2e-the-re; k=${k}al-key-0123; k=${k}456789abcdef\n"

// spill prints $k in every encoding a shell can easily produce.
const spill = `echo "raw $k"; echo "err $k" >&2; printf '%s' "$k" | base64; printf 'x%s' "$k" | base64 -w0; echo; printf 'xx%s.' "$k" | base64 -w0 | tr '+/' '-_'
echo; printf '%s' "$k" | od -An -v -tx1; printf '%s' "$k" | od -An -v -tx1 | tr -d ' \n' | tr a-f A-F; echo; printf '%s' "$k" | od -An -v -tx1 | tr -d ' \n'; echo
printf '%s' "$k" | sed 's/-/%2D/g'; echo; printf '%s' "$k" | sed 's/-/%2d/g'; echo; printf '%s' "$k" | sed 's/-/\\u002d/g'; echo; printf '{"k":"%s"}' "$(printf '%s' "$k" | sed 's/-/\\\\u002d/g')"
echo; printf 'split %s' "${k%??????????}"; sleep 0.5; printf '%s\n' "${k#"${k%??????????}"}"
`

// TestTheSearchFindsASecretThatWasNotHidden checks that the search of the tests below works.
func TestTheSearchFindsASecretThatWasNotHidden(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	rig.env = append(rig.env, "ANTHROPIC_API_KEY=") // the value is then not a known secret
	res, o := rig.execute(repo.task(assemble + spill))
	all := records(t, rig, o, t.TempDir())
	for _, name := range []string{"standard output", filepath.Join(rig.state, "runs", res.RunID, "events.ndjson"), res.Logs[0]} {
		if got, want := spelled(all[name], realKey), len(spellings(realKey)); len(got) < want-1 {
			t.Errorf("%s: only %v of %d spellings are found", name, got, want)
		}
	}
}

func TestNoFormOfAKnownSecretIsWrittenDownOrShown(t *testing.T) {
	t.Parallel()
	rig, repo, dir := newRig(t), newRepo(t, sample), t.TempDir()
	task := repo.task(assemble+spill, "echo "+realKey+"; exit 3")
	task["objective"], task["notes_for_human"] = "Use "+realKey+".", "The key is "+realKey
	task["acceptance_criteria"] = []any{"never say " + realKey, map[string]any{"command": "test " + realKey + " = x"}}
	res, o := rig.execute(task, "--events", filepath.Join(dir, "events"), "--output", filepath.Join(dir, "result"))
	if o.exit != 4 && o.exit != 3 {
		t.Errorf("exit %d, issues %+v", o.exit, res.Issues)
	}
	all := records(t, rig, o, dir)
	assertUntold(t, all, realKey)
	for _, name := range []string{"standard output", filepath.Join(dir, "events"), res.Logs[0], res.Logs[1]} {
		if !bytes.Contains(all[name], []byte("[redacted:ANTHROPIC_API_KEY]")) {
			t.Errorf("%s does not say that something was hidden:\n%.2000s", name, all[name])
		}
	}
	if log := string(all[res.Logs[0]]); !strings.Contains(log, "split [redacted:ANTHROPIC_API_KEY]\n") {
		t.Errorf("a secret in two writes:\n%s", log)
	}
	doc := rig.run([]byte(`{"objective":"`+realKey+`","`+realKey+`":1}`), "execute", "-")
	assertUntold(t, map[string][]byte{"error document": doc.stdout, "its explanation": doc.stderr}, realKey)
	if !bytes.Contains(doc.stdout, []byte("[redacted:")) {
		t.Errorf("the error document quotes nothing, so the test proves nothing: %s", doc.stdout)
	}
}

var placeholderForm = regexp.MustCompile(`sandboxrun-placeholder-[A-Z2-7]{20,}`)

// placeholderOf is the token in a tool result for the model.
func placeholderOf(srv *modelserver.Server) string {
	for _, q := range srv.Requests() {
		for _, r := range q.Results {
			if found := placeholderForm.FindString(r.Text); found != "" {
				return found
			}
		}
	}
	return ""
}

func TestAnAgentsWordsHoldNoSecretAndItsTokenDiesWithTheRun(t *testing.T) {
	t.Parallel()
	rig, repo, dir := newRig(t), newRepo(t, sample), t.TempDir()
	bash := func(command string) modelserver.Step {
		return modelserver.Step{Tools: []modelserver.ToolUse{modelserver.Tool("Bash", map[string]any{"command": command, "description": "look"})}}
	}
	srv := rig.model(modelserver.Scenario{Name: "spill", Steps: []modelserver.Step{
		{Text: "I know " + realKey + " and say so.", Tools: bash("echo " + realKey + "; k=$ANTHROPIC_API_KEY$ANTHROPIC_AUTH_TOKEN\n" + spill).Tools},
		{Text: "It was " + realKey + ", in base64 " + base64.StdEncoding.EncodeToString([]byte(realKey)) + "."},
	}})
	task := agentTask(repo)
	task["acceptance_criteria"] = []any{map[string]any{"command": "true"}}
	res, o := rig.execute(task, "--events", filepath.Join(dir, "events"))
	token := placeholderOf(srv)
	if token == "" {
		t.Fatalf("the agent's shell did not print the placeholder: the test proves nothing; issues %+v", res.Issues)
	}
	all := records(t, rig, o, dir)
	assertUntold(t, all, realKey)
	assertUntold(t, all, token)
	if res.Agent == nil || !strings.Contains(res.Agent.Claim, "[redacted:ANTHROPIC_API_KEY]") || !bytes.Contains(o.stdout, []byte("[redacted:placeholder]")) {
		t.Errorf("the result does not mark its redactions:\n%s", o.stdout)
	}

	ask := `ask() { curl -s -m 20 -o /dev/null -w "$1 %{http_code}\n" -H "x-api-key: $2" -H 'anthropic-version: 2023-06-01' -H 'content-type: application/json' ` +
		`-d '{"model":"claude-opus-5-5","max_tokens":1,"messages":[{"role":"user","content":"x"}]}' "$ANTHROPIC_BASE_URL/v1/messages"; }` + "\n"
	second := rig.model(modelserver.Scenario{Name: "replay", Steps: []modelserver.Step{
		bash(ask + "ask old " + token + "; ask own $ANTHROPIC_API_KEY$ANTHROPIC_AUTH_TOKEN"), {Text: "side answer", Times: -1},
	}})
	if _, o = rig.execute(task); o.exit != 0 {
		t.Errorf("second run: exit %d\n%s", o.exit, o.stderr)
	}
	said := ""
	for _, q := range second.Requests() {
		for _, r := range q.Results {
			said += r.Text + "\n"
		}
	}
	if !strings.Contains(said, "old 401") || !strings.Contains(said, "own 200") {
		t.Errorf("a token of an ended run, and the run's own:\n%s", said)
	}
}

// forgedToken has the form of a token but is not one.
var forgedToken = "gh" + "p_" + "w7Kd93nTqLx20VbYpRcE5uJfHs81ZaMgOi6N"

func secretIssues(res document.Result) []document.Issue {
	var out []document.Issue
	for _, i := range res.Issues {
		if i.Code == "secret_in_diff" {
			out = append(out, i)
		}
	}
	return out
}

// assertNotLanded fails where a run landed something.
func assertNotLanded(t *testing.T, repo *repo, res document.Result, o outcome) {
	t.Helper()
	if o.exit != 3 || res.Status != document.StatusPartial || res.Git.Branch != "" || repo.git("for-each-ref", "refs/heads/sandboxrun") != "" {
		t.Errorf("exit %d, status %s, branch %q, issues %+v", o.exit, res.Status, res.Git.Branch, res.Issues)
	}
}

func TestAKnownSecretInTheChangeNeitherLandsNorBecomesAPatch(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	res, o := rig.execute(repo.task(assemble +
		`printf 'a\nb\nkey: %s\n' "$k" > plain.txt; printf '%s' "$k" | base64 > encoded.txt; printf 'x\000%s' "$k" > binary; echo hi > "name-$k"; ln -s "$k" link; echo fine > fine.txt`))
	assertNotLanded(t, repo, res, o)
	got := map[string]string{}
	for _, i := range secretIssues(res) {
		got[i.Path] = i.Description
	}
	for path, want := range map[string]string{"plain.txt": "line 3 holds", "encoded.txt": "line 1 holds", "binary": "byte 1, NUL bytes not counted, holds", "name-[redacted:ANTHROPIC_API_KEY]": "its name holds", "link": "line 1 holds"} {
		if !strings.HasPrefix(got[path], want) {
			t.Errorf("%s: %q, want %q", path, got[path], want)
		}
	}
	if len(got) != 5 || res.Git.Patch != "" || len(res.FilesChanged) != 6 {
		t.Errorf("issues %v, patch %q, files %+v", got, res.Git.Patch, res.FilesChanged)
	}
	assertUntold(t, records(t, rig, o, t.TempDir()), realKey)
	if a := rig.run(nil, "apply", res.RunID); a.exit != 2 || repo.git("status", "--porcelain") != "" {
		t.Errorf("apply: exit %d, %s", a.exit, a.stderr)
	}
}

func TestWhatLooksLikeASecretLandsOnlyWhenTheUserAllowsIt(t *testing.T) {
	t.Parallel()
	rig := newRig(t)
	repo := newRepo(t, map[string]string{"old.txt": "t = \"" + forgedToken + "\"\n", "sum.sh": "#!/bin/sh\n"})
	task := repo.task(`t=`+forgedToken[:20]+`; t=${t}`+forgedToken[20:]+`; printf 'one\ntoken = "%s" # gitleaks:allow\n' $t > new.txt; cp new.txt again.txt`,
		`printf '; more\n' >> old.txt; mv sum.sh moved.sh`)
	res, o := rig.execute(task)
	assertNotLanded(t, repo, res, o)
	issues := secretIssues(res)
	if len(issues) != 2 || issues[1].Path != "new.txt" || !strings.HasPrefix(issues[1].Description, "line 2 looks like a secret (rule github-pat, fingerprint ") {
		t.Fatalf("issues %+v", issues)
	}
	if fi, err := os.Stat(res.Git.Patch); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("the patch, for a person to inspect: %v %v", fi, err)
	}
	if bytes.Contains(o.stdout, []byte(issues[0].Path+forgedToken)) || strings.Contains(issues[0].Description, forgedToken) {
		t.Errorf("an issue contains the secret: %+v", issues[0])
	}
	fingerprint := regexp.MustCompile(`[0-9a-f]{16}`).FindString(issues[0].Description)
	task["land"] = map[string]any{"allow_secrets": []string{fingerprint}}
	if doc, exit := rig.refuse(marshal(t, task)); exit != 2 {
		t.Errorf("a task that allows itself secrets: exit %d, %+v", exit, doc)
	}
	delete(task, "land")
	rig.config["land"] = map[string]any{"allow_secrets": []string{fingerprint}}
	if res, o = rig.execute(task); o.exit != 0 || res.Git.Branch == "" {
		t.Errorf("allowed by the user: exit %d, issues %+v", o.exit, res.Issues)
	}
}

func TestASessionDoesNotGoOnFromAChangeWithASecret(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	write := func(name, text string) modelserver.Scenario {
		return modelserver.Scenario{Name: "write", Steps: []modelserver.Step{
			{Tools: []modelserver.ToolUse{modelserver.Tool("Write", map[string]any{"file_path": "/workspace/" + name, "content": text})}}, {Text: "Done."},
		}}
	}
	rig.model(write("token.txt", forgedToken+"\n"))
	task := sessionTask(repo, "careless", "Write a file.")
	res, o := rig.execute(task)
	assertNotLanded(t, repo, res, o)
	if !hasCode(res, "session_lost") {
		t.Errorf("no issue reports that the session stays unchanged: %v", codes(res))
	}
	rig.model(write("fine.txt", "x\n"))
	res, o = rig.execute(task)
	if o.exit != 0 || res.Git.Branch == "" || len(res.FilesChanged) != 1 {
		t.Fatalf("exit %d, files %+v, issues %+v", o.exit, res.FilesChanged, res.Issues)
	}
	if log := repo.git("log", "-p", "--all"); strings.Contains(log, forgedToken) || !strings.Contains(log, "fine.txt") {
		t.Errorf("history:\n%s", log)
	}
}
