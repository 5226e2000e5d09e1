#!/usr/bin/env bash
# Builds everything in this folder with warnings as errors, and runs the tests
# with sanitizers. With PLAYER, the server's binary, the examples drive a
# simulated robot. The programs go to $BUILD, by default a directory that is
# removed at the end.
set -euo pipefail
cd "$(dirname "$0")"
. ../c/common.sh
sed -n '/^```cpp$/,/^```$/{/^```/d;p}' README.md >"$BUILD/readme.cpp" # the example is a program
c++ -std=c++17 "${strict[@]}" -I. -o "$BUILD/readme" "$BUILD/readme.cpp"
for source in examples/*.cpp; do
  c++ -std=c++17 -O2 "${strict[@]}" -o "$BUILD/$(basename "$source" .cpp)" "$source"
done
c++ -std=c++17 "${strict[@]}" "${sanitize[@]}" -pthread -o "$BUILD/test" test.cpp
"$BUILD/test"
run_examples
echo "clients/cpp: ok"
