#!/usr/bin/env bash
# Runs the adapter (docs/CLIENTS.md) by tclsh, or by another shell of Tcl. There is nothing to build.
set -euo pipefail
exec "${1:-tclsh}" "$(dirname "$0")/adapter.tcl"
