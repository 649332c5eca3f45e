package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sandboxrun/agents"
	"sandboxrun/runner/config"
	"sandboxrun/runner/document"
	"sandboxrun/runner/plan"
)

func TestTasksOfExamplesAndReadmeCompile(t *testing.T) {
	t.Parallel()
	tasks := map[string][]byte{}
	files, err := filepath.Glob(filepath.Join("..", "..", "examples", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, name := range append(files, filepath.Join("..", "..", "README.md")) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Ext(name) == ".md" {
			block := regexp.MustCompile("(?s)## A task\n+```json\n(.*?)```").FindSubmatch(data)
			if block == nil {
				t.Fatalf("%s shows no task", name)
			}
			data = block[1]
		}
		tasks[name] = data
	}
	for name, data := range tasks {
		task, err := document.Decode(data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, err := plan.Compile(task, config.Default(), plan.Overrides{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReadmeNamesEveryCommand(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range testProgram().app().Commands {
		if row := regexp.MustCompile(`(?m)^\| .` + c.Name + `\b`); !c.Hidden && !row.Match(data) {
			t.Errorf("README.md has no row for %s", c.Name)
		}
	}
}

func TestReadmeNamesEveryAgent(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	readme := strings.Join(strings.Fields(string(text)), " ")
	for _, a := range agents.All() {
		if title := a.Info().Title; !strings.Contains(readme, " "+title+",") {
			t.Errorf("README.md, Agents: %s is missing", title)
		}
	}
}
