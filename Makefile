# sandboxrun: `make` lists the targets. Each one sets up what it needs first.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# The project's own tools, and the Go that scripts/setup-go fetches where the
# machine has none new enough, come first. Nothing switches versions by itself.
export PATH := $(CURDIR)/.cache/go/bin:$(CURDIR)/.cache/bin:$(PATH)
export GOTOOLCHAIN := local

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: setup ## set up, then run the main job on a sample repository
	@bin/sandboxrun demo

# PKG and RUN choose a package and tests: make test PKG=./gitdiff/land RUN=TestLand
CHOSEN = $(if $(RUN),-run '$(RUN)') $(PKG)

.PHONY: test
test: setup gvisor podman user-mode-linux go-image ## set up, then run the tests with the race detector (PKG=./dir RUN=Name)
	@scripts/test $(CHOSEN)

.PHONY: test-short
test-short: ## the tests that need no engine, in a minute (PKG=./dir RUN=Name)
	@scripts/setup-go
	@scripts/test short $(CHOSEN)

.PHONY: test-all
test-all: setup gvisor podman user-mode-linux go-image ## like test, with every case of the suites that take a sample
	@scripts/test all $(CHOSEN)

.PHONY: test-rest
test-rest: setup gvisor podman user-mode-linux go-image ## the cases of test-all that test omits, for continuous integration
	@scripts/test rest

.PHONY: setup
setup: ## install what is missing: Go, Docker engine, base image, agent image
	@scripts/setup

# Where git refuses (a clone that belongs to another user, no commit yet) the program is built nevertheless, as
# version devel.
VERSION = $(shell git describe --tags --always --dirty 2>/dev/null)
.PHONY: build
build: ## build bin/sandboxrun, a static program
	@scripts/setup-go
	@CGO_ENABLED=0 go build -trimpath -buildvcs=$(if $(VERSION),auto,false) -ldflags '-s -w -X main.release=$(VERSION)' -o bin/sandboxrun ./cmd/sandboxrun

PREFIX ?= /usr/local
.PHONY: install
install: build ## install the program, its manual page and its shell completions below PREFIX (default /usr/local)
	@install -D -m 0755 bin/sandboxrun "$(DESTDIR)$(PREFIX)/bin/sandboxrun"
	@for shell in bash:bash-completion/completions/sandboxrun zsh:zsh/site-functions/_sandboxrun fish:fish/vendor_completions.d/sandboxrun.fish; do \
		bin/sandboxrun completion "$${shell%%:*}" | install -D -m 0644 /dev/stdin "$(DESTDIR)$(PREFIX)/share/$${shell#*:}"; \
	done
	@bin/sandboxrun completion man | install -D -m 0644 /dev/stdin "$(DESTDIR)$(PREFIX)/share/man/man1/sandboxrun.1"
	@echo "installed $(DESTDIR)$(PREFIX)/bin/sandboxrun"

.PHONY: uninstall
uninstall: ## remove what "make install" installed
	@rm -f "$(DESTDIR)$(PREFIX)/bin/sandboxrun" "$(DESTDIR)$(PREFIX)/share/bash-completion/completions/sandboxrun" \
		"$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_sandboxrun" "$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/sandboxrun.fish" "$(DESTDIR)$(PREFIX)/share/man/man1/sandboxrun.1"

.PHONY: image
image: setup ## build the agent image again if any of its inputs changed
	@bin/sandboxrun image list

.PHONY: go-image
go-image: setup ## build the Go toolchain image that tests name as box.image
	@scripts/go-image

.PHONY: gvisor
gvisor: setup ## build and register the gVisor runtime where possible
	@scripts/gvisor

.PHONY: podman
podman: setup ## install Podman for the tests of its socket where possible
	@scripts/podman

.PHONY: user-mode-linux
user-mode-linux: ## install the kernel for the tests of quotas where possible
	@scripts/user-mode-linux

.PHONY: lint
lint: ## check the code with the pinned golangci-lint and shellcheck
	@scripts/setup-go
	@scripts/lint

.PHONY: page
page: ## build the page from web/src into web/dist, which is committed
	@scripts/setup-go
	@scripts/page-libraries
	@web/node_modules/.bin/tsc -p web
	@go run ./scripts/page

.PHONY: tidy
tidy: ## check that go.mod and go.sum list what the code imports
	@scripts/setup-go
	@go mod tidy -diff

.PHONY: fuzz
fuzz: ## fuzz every target for FUZZTIME (10s)
	@scripts/setup-go
	@scripts/fuzz

# The program of a soak stays as it is when a build here changes bin/.
.PHONY: soak
soak: setup ## run SOAK_TASKS (1000) tasks while runners die, and count violations
	@cp bin/sandboxrun .cache/sandboxrun-soak
	@go run ./scripts/soak -bin .cache/sandboxrun-soak -tasks $(or $(SOAK_TASKS),1000) -seed $(or $(SOAK_SEED),1)

.PHONY: floods
floods: setup ## write gigabytes in boxes and measure the runner's memory (half an hour)
	@SANDBOXRUN_LONG=1 go test -v -timeout 2h -run TestMemoryStaysFlat ./cmd/sandboxrun/e2e

.PHONY: bench
bench: setup ## compare whole runs with docker run and a shell script (minutes)
	@go run ./scripts/bench

.PHONY: tools
tools: setup ## try every row of README's table of languages in an image of its own (minutes, downloads compilers)
	@SANDBOXRUN_TEST=all SANDBOXRUN_TOOLS=all go test -count=1 -timeout 30m -v ./cmd/sandboxrun/e2e -run 'TestToolsOfReadme$$'

.PHONY: page-pictures
page-pictures: setup ## make the pictures of docs/screens again
	@SANDBOXRUN_TEST=all PAGE_PICTURES=$(CURDIR)/docs/screens go test -count=1 ./cmd/sandboxrun/e2e -run 'TestScreensOfThePage$$'

.PHONY: record
record: setup ## record the real agent CLIs for the replay tests (AGENT=name for one)
	@scripts/record

.PHONY: clean
clean: ## remove what was built here; images and installed packages stay
	@chmod -R u+w .cache 2>/dev/null || true
	@rm -rf bin .cache
