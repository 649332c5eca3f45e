package check

import (
	"strings"
	"testing"
)

func TestDependenciesOfNode(t *testing.T) {
	t.Parallel()
	base := repo{
		"package.json":      `{"name":"x","dependencies":{"left":"^1.0.0","@s/p":"2.0.0"},"devDependencies":{"jest":"29.0.0"}}`,
		"package-lock.json": `{"lockfileVersion":3,"packages":{"":{},"node_modules/left":{"version":"1.0.0","integrity":"sha512-a"}}}`,
		"src/a.js":          "const l = require('left'); const fs = require('fs')\n", "src/b.ts": "import x from 'left'\n", "ci.yml": "run: npm test\n", "yarn/yarn.lock": "a\n", "yarn/package.json": "{}",
	}
	manifest := func(from, to string) repo {
		return repo{"package.json": strings.Replace(base["package.json"], from, to, 1)}
	}
	judgeCorpus(t, "dependencies", base, []verdictCase{
		{name: "sources", change: repo{"src/a.js": "require('left'); require('node:path'); require('./b'); require('path/posix'); require('@s/p/sub')\n", "src/b.ts": "import y from '@s/p'\n"}, want: Pass},
		{name: "a script", change: manifest(`"name"`, `"scripts":{"a":"b"},"name"`), want: Pass},
		{name: "a removed one", change: manifest(`"left":"^1.0.0",`, ``), want: Pass},
		{name: "a moved section", change: repo{"package.json": `{"name":"x","dependencies":{"left":"^1.0.0","@s/p":"2.0.0","jest":"29.0.0"}}`}, want: Pass},
		{name: "a new one", change: manifest(`"left"`, `"right":"1.0.0","left"`), want: Fail, says: "right"},
		{name: "a new one for development", change: manifest(`"jest"`, `"vitest":"1.0.0","jest"`), want: Fail},
		{name: "an allowed one", params: `,"allow":["right"]`, change: manifest(`"left"`, `"right":"1.0.0","left"`), want: Pass},
		{name: "an allowed scope", params: `,"allow":["@s/*"]`, change: manifest(`"left"`, `"@s/q":"1.0.0","left"`), want: Pass},
		{name: "a longer name than allowed", params: `,"allow":["right"]`, change: manifest(`"left"`, `"right-pad":"1.0.0","left"`), want: Fail},
		{name: "an allowed name for another package", params: `,"allow":["right"]`, change: manifest(`"left"`, `"right":"npm:evil@1.0.0","left"`), want: Fail},
		{name: "an allowed name from a repository", params: `,"allow":["right"]`, change: manifest(`"left"`, `"right":"github:a/b","left"`), want: Fail},
		{name: "another version", change: manifest("^1.0.0", "^2.0.0"), want: Fail, says: "left"},
		{name: "another version that may be", params: `,"versions":true`, change: manifest("^1.0.0", "^2.0.0"), want: Pass},
		{name: "another source in place of a version", params: `,"versions":true`, change: manifest("^1.0.0", "file:../left"), want: Fail},
		{name: "an alias", params: `,"versions":true`, change: manifest("^1.0.0", "npm:evil@1.0.0"), want: Fail},
		{name: "an override", change: manifest(`"name"`, `"overrides":{"left":"9.0.0"},"name"`), want: Fail},
		{name: "a new manifest", change: repo{"tools/package.json": `{"dependencies":{"right":"1.0.0"}}`}, want: Fail},
		{name: "a moved manifest", change: repo{"yarn2/package.json": "<yarn/package.json"}, want: Pass},
		{name: "a manifest that is none", change: repo{"package.json": `{"dependencies":`}, want: Unverifiable},
		{name: "a manifest with a key twice", change: manifest(`"name"`, `"dependencies":{"x":"1"},"name"`), want: Unverifiable},
		{name: "a lock without its manifest", change: repo{"package-lock.json": strings.Replace(base["package-lock.json"], "-a", "-b", 1)}, want: Fail},
		{name: "a lock that follows", params: `,"allow":["right"]`, change: repo{"package.json": strings.Replace(base["package.json"], `"left"`, `"right":"1.0.0","left"`, 1),
			"package-lock.json": strings.Replace(base["package-lock.json"], `"":{}`, `"":{},"node_modules/right":{"version":"1.0.0"}`, 1)}, want: Pass},
		{name: "a lock that changes more", params: `,"allow":["right"]`, change: repo{"package.json": strings.Replace(base["package.json"], `"left"`, `"right":"1.0.0","left"`, 1),
			"package-lock.json": strings.Replace(base["package-lock.json"], `sha512-a`, `sha512-b`, 1)}, want: Fail},
		{name: "a lock that is not read", params: `,"allow":["right"]`, change: repo{"yarn/package.json": `{"dependencies":{"right":"1"}}`, "yarn/yarn.lock": "b\n"}, want: Unverifiable},
		{name: "a copied package", change: repo{"node_modules/right/index.js": "x\n"}, want: Fail},
		{name: "a copied archive", change: repo{"libs/right.tgz": "x\n"}, want: Fail},
		{name: "an undeclared import", change: repo{"src/a.js": "require('right')\n"}, want: Fail, says: "right"},
		{name: "an undeclared import in a new file", change: repo{"src/c.mjs": "import { x } from \"@other/p/sub\"\n"}, want: Fail},
		{name: "an undeclared dynamic import", change: repo{"src/c.mjs": "await import('right')\n"}, want: Fail},
		{name: "an address", change: repo{"src/b.ts": "import x from 'https://cdn.example/x.js'\n"}, want: Fail},
		{name: "an undeclared import of TypeScript", change: repo{"src/b.ts": "import x from 'right'\n"}, want: Unverifiable},
		{name: "a workflow that installs", change: repo{"ci.yml": "run: npm test\nrun: npm install right\n"}, want: Unverifiable},
		{name: "another workflow", change: repo{"ci.yml": "run: npm run all\n"}, want: Pass},
		{name: "another kind of manifest", change: repo{"pom.xml": "<project/>"}, want: Unverifiable},
	})
}

func TestDependenciesOfOthers(t *testing.T) {
	t.Parallel()
	base := repo{
		"go.mod": "module m\n\ngo 1.24\n\nrequire (\n\ta.example/a v1.0.0\n\tb.example/b v1.0.0 // indirect\n)\n", "go.sum": "a.example/a v1.0.0 h1:a=\n",
		"Cargo.toml":     "[package]\nname = \"x\"\n[dependencies]\nserde = \"1\"\n[target.'cfg(unix)'.dependencies]\nnix = { version = \"0.2\" }\n",
		"pyproject.toml": "[project]\ndependencies = [\"Requests>=2\", \"flask_cors\"]\n[project.optional-dependencies]\ndev = [\"pytest\"]\n", "requirements.txt": "attrs==1.0  # why\n",
		"app/main.py": "import os, requests\nfrom flask_cors import CORS\n", "app/util.py": "x = 1\n", "composer.json": `{"require":{"a/b":"^1"}}`,
		"Pipfile": "[packages]\nsix = \"*\"\n",
	}
	edit := func(name, from, to string) repo { return repo{name: strings.Replace(base[name], from, to, 1)} }
	judgeCorpus(t, "dependencies", base, []verdictCase{
		{name: "a Go module", change: edit("go.mod", "require (\n", "require (\n\tc.example/c v1.0.0\n"), want: Fail, says: "c.example/c"},
		{name: "an allowed Go module with what it brings", params: `,"allow":["c.example/c"]`, change: edit("go.mod", "require (\n", "require (\n\tc.example/c v1.0.0\n\td.example/d v1.0.0 // indirect\n"), want: Pass},
		{name: "an indirect one by itself", change: edit("go.mod", "require (\n", "require (\n\td.example/d v1.0.0 // indirect\n"), want: Fail},
		{name: "an indirect one becomes direct", change: edit("go.mod", " // indirect", ""), want: Fail},
		{name: "a newer Go module", change: edit("go.mod", "a v1.0.0", "a v1.1.0"), want: Fail},
		{name: "a newer Go module that may be", params: `,"versions":true`, change: edit("go.mod", "a v1.0.0", "a v1.1.0"), want: Pass},
		{name: "a replaced Go module", params: `,"versions":true`, change: edit("go.mod", "require", "replace a.example/a => ../a\n\nrequire"), want: Fail},
		{name: "another checksum", change: edit("go.sum", "h1:a=", "h1:b="), want: Fail},
		{name: "a Go module that was dropped", change: edit("go.mod", "\ta.example/a v1.0.0\n", ""), want: Pass},
		{name: "a copied Go module", change: repo{"vendor/c.example/c/c.go": "package c\n"}, want: Fail},
		{name: "a crate", change: edit("Cargo.toml", "serde", "rand = \"1\"\nserde"), want: Fail},
		{name: "a crate of one system", change: edit("Cargo.toml", "nix = ", "libc = \"1\"\nnix = "), want: Fail},
		{name: "a crate under another name", change: edit("Cargo.toml", `serde = "1"`, `serde = { version = "1", package = "evil" }`), want: Fail},
		{name: "an allowed crate with features", params: `,"allow":["rand"]`, change: edit("Cargo.toml", "serde", "rand = { version = \"1\", features = [\"std\"] }\nserde"), want: Pass},
		{name: "an allowed crate from a repository", params: `,"allow":["rand"]`, change: edit("Cargo.toml", "serde", "rand = { version = \"1\", git = \"x\" }\nserde"), want: Fail},
		{name: "a patched crate", change: edit("Cargo.toml", "[package]", "[patch.crates-io]\nserde = { path = \"x\" }\n[package]"), want: Fail},
		{name: "the crate's own name", change: edit("Cargo.toml", `"x"`, `"y"`), want: Pass},
		{name: "a Python package", change: edit("pyproject.toml", `"flask_cors"`, `"flask_cors", "numpy"`), want: Fail, says: "numpy"},
		{name: "a Python package of a group", change: edit("pyproject.toml", `"pytest"`, `"pytest", "tox"`), want: Fail},
		{name: "a Python package in another spelling", change: edit("pyproject.toml", "flask_cors", "Flask-CORS"), want: Pass},
		{name: "a Python package from an address", params: `,"allow":["numpy"]`, change: edit("pyproject.toml", `"flask_cors"`, `"flask_cors", "numpy @ https://a.example/n.whl"`), want: Fail},
		{name: "an allowed Python package", params: `,"allow":["numpy"]`, change: edit("requirements.txt", "attrs", "numpy>=1\nattrs"), want: Pass},
		{name: "another index", change: edit("requirements.txt", "attrs", "--index-url x\nattrs"), want: Fail},
		{name: "a comment", change: edit("requirements.txt", "# why", "# because"), want: Pass},
		{name: "dynamic Python dependencies", change: edit("pyproject.toml", "[project]\n", "[project]\ndynamic = [\"dependencies\"]\n"), want: Unverifiable},
		{name: "a set-up program", change: repo{"setup.py": "setup()\n"}, want: Unverifiable},
		{name: "an import of the project", change: repo{"app/main.py": "import json\nfrom app import util\nimport util\n"}, want: Pass},
		{name: "an import of the language and a declared one", change: repo{"app/main.py": "import json, re\nimport flask_cors.x\nimport util\n"}, want: Pass},
		{name: "an undeclared Python import", change: repo{"app/main.py": "import numpy as np\n"}, want: Unverifiable, says: "numpy"},
		{name: "a Composer package", change: edit("composer.json", `"a/b"`, `"c/d":"1","a/b"`), want: Fail},
		{name: "a Pipenv package", change: edit("Pipfile", "six", "seven = \"*\"\nsix"), want: Fail},
	})
}
