#!/usr/bin/env bash
# Builds everything in this folder with warnings as errors, and runs the tests
# with sanitizers. With PLAYER, the server's binary, the examples drive a
# simulated robot. The programs go to $BUILD, by default a directory that is
# removed at the end.
set -euo pipefail
cd "$(dirname "$0")"
. ./common.sh
sed -n '/^```c$/,/^```$/{/^```/d;p}' README.md >"$BUILD/readme.c" # the example is a program
cc -std=c99 "${strict[@]}" -I. -o "$BUILD/readme" "$BUILD/readme.c"
for source in examples/*.c; do
  cc -std=c99 -O2 "${strict[@]}" -o "$BUILD/$(basename "$source" .c)" "$source"
done
cc -std=c99 "${strict[@]}" "${sanitize[@]}" -o "$BUILD/test" test.c
"$BUILD/test"
run_examples
echo "clients/c: ok"
