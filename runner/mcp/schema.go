package mcp

import (
	"encoding/json"
	"maps"

	"sandboxrun/schemas"
)

// object is a JSON Schema or a part of one.
type object map[string]any

// schemaOf reads one of the program's schemas for use inside another: its definitions, which references look for at the
// root of the whole, are returned apart.
func schemaOf(name string) (schema, definitions object) {
	text, err := schemas.ByName(name)
	if err == nil {
		err = json.Unmarshal(text, &schema)
	}
	if err != nil {
		panic(err) // embedded at build time, and read by every test
	}
	definitions = object{}
	if defs, ok := schema["$defs"].(map[string]any); ok {
		definitions = defs
	}
	for _, key := range []string{"$schema", "$id", "$defs"} {
		delete(schema, key)
	}
	if properties, ok := schema["properties"].(map[string]any); ok {
		delete(properties, "$schema")
	}
	return schema, definitions
}

// arguments is the schema of a tool's arguments.
func arguments(required []string, properties object) object {
	return object{"type": "object", "additionalProperties": false, "required": required, "properties": properties}
}

// taskArguments is arguments with a task among them.
func taskArguments(properties object) object {
	task, definitions := schemaOf("task")
	properties["task"] = task
	schema := arguments([]string{"task"}, properties)
	schema["$defs"] = definitions
	return schema
}

// outcomeSchema describes what execute_task, wait_run and follow_up answer: the result of a run, or where it is.
func outcomeSchema() object {
	result, definitions := schemaOf("result")
	return object{"type": "object", "anyOf": []any{result, handleSchema}, "$defs": definitions}
}

var handleSchema = object{
	"type": "object", "required": []string{"run_id", "state", "next"},
	"description": "A run that goes on.",
	"properties": object{
		"run_id": text("Id of the run."),
		"state":  object{"description": "Where the run is.", "enum": []string{"queued", "starting", "running", "ended", "crashed"}},
		"phase":  text("Phase of a running run."),
		"doing":  text("What happens now, in a few words."),
		"next":   text("Tool to call with run_id: wait_run."),
	},
}

// viewSchema describes a run as lists show it.
var viewSchema = object{
	"type": "object", "required": []string{"run_id", "task_id", "state", "summary"},
	"properties": object{
		"run_id": text("Id of the run."), "task_id": text("Id of its task."),
		"state":   object{"enum": []string{"queued", "starting", "running", "ended", "refused", "crashed"}},
		"status":  object{"description": "Of an ended run.", "enum": []string{"success", "partial", "failed"}},
		"phase":   text("Of a running run."),
		"summary": text("What was measured, or what is wanted."),
		"branch":  text("The branch that the change landed on."),
		"issues":  object{"description": "Issue codes, the gravest first.", "type": "array", "items": object{"type": "string"}},
	},
}

func text(description string) object { return object{"type": "string", "description": description} }

func number(description string, least, most int) object {
	return object{"type": "integer", "description": description, "minimum": least, "maximum": most}
}

// with is a copy of a schema's properties and one more.
func with(properties object, name string, schema object) object {
	all := maps.Clone(properties)
	all[name] = schema
	return all
}
