# Versions of the tools the project is built with: the one place they are written.
# Sourced by scripts/lib.sh. Libraries are in go.mod; agents are in their adapters.
# shellcheck disable=SC2034 # used by the scripts that source this

# Toolchain fetched where the machine has no Go new enough for go.mod.
GO_TOOLCHAIN=1.26.8
# Newest gVisor whose module builds with the go command alone.
RUNSC_VERSION=v0.0.0-20260905035102-160fafc42237
GOLANGCI_VERSION=v2.15.0
BASE_IMAGE=debian:bookworm-slim
GO_IMAGE=sandboxrun/go:latest
