#!/usr/bin/env bash
# Runs all tests with Tcl 8.6 and 9; there is nothing to build. The viewer is tested on a virtual display, with 8.6: Debian
# 12 has no Tk 9.
set -euo pipefail
cd "$(dirname "$0")"

# run runs one file of tests. tcltest does not report failures in its exit code.
run() {
  local output
  output=$("$@")
  printf '%s\n' "$output"
  grep -qE 'Passed[[:space:]]+[0-9]+.*Failed[[:space:]]+0$' <<<"$output"
}

for tclsh in tclsh tclsh9.0; do
  if ! command -v $tclsh >/dev/null; then
    [ -z "${CI:-}" ] || { echo "the tests need $tclsh: .ci/tcl9 installs Tcl 9"; exit 1; }
    echo "skipped: there is no $tclsh"
    continue
  fi
  $tclsh <<<'puts "Tcl [info patchlevel]"'
  for tests in protocol client view simulation; do
    run $tclsh "test/${tests}_test.tcl"
  done
  if $tclsh <<<'exit [catch {package require tls}]'; then
    run $tclsh test/secure_test.tcl
  elif [ -n "${CI:-}" ]; then
    echo 'TLS needs tcl-tls'
    exit 1
  else
    echo 'skipped: TLS needs tcl-tls'
  fi
done
if command -v wish >/dev/null && command -v xvfb-run >/dev/null; then
  run xvfb-run -a tclsh test/viewer_test.tcl
elif [ -n "${CI:-}" ]; then
  echo 'the viewer needs wish and xvfb-run'
  exit 1
else
  echo 'skipped: the viewer needs wish and xvfb-run'
fi
