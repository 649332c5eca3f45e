package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"

	"sandboxrun/agents"
	"sandboxrun/runner/document"
)

// EnvProfiles names the variable with the path of the user's profiles.
const EnvProfiles = "SANDBOXRUN_PROFILES"

// maxParams bounds the additional parameters of one variant.
const maxParams = 100

// profilesPath says where the profiles are and whether somebody named the file:
// profiles.json beside the configuration that was named, where there is one,
// otherwise beside the default one. It is "" when no place is known.
func profilesPath(getenv func(string) string) (path string, named bool, err error) {
	if path := getenv(EnvProfiles); path != "" {
		return path, true, nil
	}
	const name = "profiles.json"
	config := getenv(EnvConfig)
	if config != "" {
		beside := filepath.Join(filepath.Dir(config), name)
		if _, err := os.Lstat(beside); err == nil {
			return beside, false, nil
		}
	}
	dir, err := baseDir(getenv, "XDG_CONFIG_HOME", ".config")
	if err != nil && config != "" {
		return "", false, nil // who names the configuration needs no home
	}
	return filepath.Join(dir, name), false, err
}

// loadProfiles reads the user's profiles. A file that is not there is no error
// unless it was named.
func loadProfiles(getenv func(string) string) (Profiles, error) {
	path, named, err := profilesPath(getenv)
	if err != nil || path == "" {
		return Profiles{}, err
	}
	data, err := document.ReadSmall(path, document.MaxDocument)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !named:
		return Profiles{}, nil
	case err != nil:
		return Profiles{}, &document.InputError{Message: fmt.Sprintf("cannot read the profiles: %v", err), Hint: "check " + EnvProfiles}
	}
	return DecodeProfiles(data, path)
}

// DecodeProfiles reads profiles as strictly as Decode reads a task.
func DecodeProfiles(data []byte, path string) (Profiles, error) {
	var p document.Problems
	var doc struct {
		Executors map[string]map[string]map[string]json.RawMessage `json:"executors"`
	}
	if _, ok := document.StrictJSON(data, nil, &p); ok && p.Empty() {
		if err := jsonv2.Unmarshal(data, &doc, jsonv2.RejectUnknownMembers(true)); err != nil {
			p.Add(wrongPlace(err), `has the wrong form; profiles are {"executors":{"NAME":{"VARIANT":{…}}}}`)
		}
	}
	out := Profiles{User: map[string]map[string]fields{}}
	for executor, variants := range doc.Executors {
		at := "/executors/" + executor
		a, ok := agents.Lookup(executor)
		if !ok {
			p.Add(at, "%s", document.AgentProblem(executor))
			continue
		}
		info := a.Info()
		if out.User[info.Executor] == nil {
			out.User[info.Executor] = map[string]fields{}
		}
		for variant, raw := range variants {
			if !document.VariantForm.MatchString(variant) {
				p.Add(at+"/"+variant, "%s", document.VariantProblem(variant))
				continue
			}
			f := fields{}
			for _, name := range slices.Sorted(maps.Keys(raw)) {
				if why := fieldProblem(info, name, raw[name]); why != "" {
					p.Add(at+"/"+variant+"/"+name, "%s", why)
					continue
				}
				f[name] = ProfileField{Name: name, Value: raw[name], Origin: path}
			}
			out.User[info.Executor][variant] = f
		}
	}
	return out, p.Err(fmt.Sprintf("the profiles %s are not valid", path), `"sandboxrun profiles show AGENT" lists the fields`)
}

// wrongPlace is the pointer of the value that an error of decoding is about.
func wrongPlace(err error) string {
	if bad, ok := errors.AsType[*jsonv2.SemanticError](err); ok {
		return string(bad.JSONPointer)
	}
	return ""
}

// fieldProblem says why a field of a profile cannot be so; "" when it can.
func fieldProblem(info agents.Info, name string, value json.RawMessage) string {
	if into, common := commonFields[name]; common {
		var p Profile
		if err := jsonv2.Unmarshal(value, into(&p), jsonv2.RejectUnknownMembers(true)); err != nil {
			return "has the wrong form"
		}
		return p.problem(name)
	}
	for _, o := range info.Options {
		if o.Name == name {
			return optionProblem(o, value)
		}
	}
	if meant := document.Nearest(name, fieldNames(info)); meant != "" {
		return fmt.Sprintf("unknown field; is %q meant? (%s has: %s)", meant, info.Name, strings.Join(fieldNames(info), ", "))
	}
	return fmt.Sprintf("unknown field (%s has: %s)", info.Name, strings.Join(fieldNames(info), ", "))
}

// fieldNames lists every field a profile of an agent may have.
func fieldNames(info agents.Info) []string {
	names := slices.Collect(maps.Keys(commonFields))
	for _, o := range info.Options {
		names = append(names, o.Name)
	}
	slices.Sort(names)
	return names
}

func optionProblem(o agents.Option, value json.RawMessage) string {
	var err error
	var text string
	switch o.Type {
	case agents.OptionBool:
		err = jsonv2.Unmarshal(value, new(bool))
	case agents.OptionStrings:
		err = jsonv2.Unmarshal(value, new([]string))
	default:
		err = jsonv2.Unmarshal(value, &text)
	}
	switch {
	case err != nil && o.Type == agents.OptionStrings:
		return "must be an array of strings"
	case err != nil:
		return fmt.Sprintf("must be a %s", o.Type)
	case len(o.Values) > 0 && !slices.Contains(o.Values, text):
		return "must be one of " + strings.Join(o.Values, ", ")
	}
	return ""
}

// problem checks one common field that has the right form.
func (p *Profile) problem(name string) string {
	switch name {
	case "model":
		return document.ModelProblem(p.Model)
	case "approve":
		return document.ApprovalProblem(p.Approve)
	case "additional_params":
		if len(p.AdditionalParams) > maxParams {
			return fmt.Sprintf("has %d items, at most %d are allowed", len(p.AdditionalParams), maxParams)
		}
		if i := slices.Index(p.AdditionalParams, "--"); i >= 0 {
			return fmt.Sprintf("item %d is \"--\", after which an agent takes the arguments of its protocol for a prompt", i)
		}
	case "env":
		for _, n := range slices.Sorted(maps.Keys(p.Env)) {
			if why := document.EnvProblem(n); why != "" {
				return n + " " + why
			}
		}
	case "mcp_servers":
		return document.McpProblem(p.MCPServers)
	}
	return ""
}
