# What the scripts of the C and C++ clients share.

# Sanitizers stop a program at the first access outside an object and at undefined
# behaviour.
strict=(-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)
sanitize=(-g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all)

# What a program with TLS compiles and links beside, if OpenSSL is there.
tls=()
if echo '#include <openssl/ssl.h>' | cc -E - >/dev/null 2>&1; then tls=(-DWITH_TLS ../c/player_tls.c -lssl -lcrypto); fi

# library NAME FLAGS... compiles the C client for a C++ program, to $BUILD/NAME.o.
library() {
  cc -std=c99 "${strict[@]}" "${@:2}" -c -o "$BUILD/$1.o" ../c/player.c
}

if [ -z "${BUILD:-}" ]; then
  BUILD=$(mktemp -d)
  trap 'rm -rf "$BUILD"' EXIT
fi

# run_examples runs each example for some rounds on a simulated robot, if PLAYER
# is the server's binary.
run_examples() {
  [ -n "${PLAYER:-}" ] || return 0
  local port server example world=../../simulation/worlds/room.world
  while true; do
    port=$((7000 + RANDOM % 2900))
    : >"$BUILD/log"
    "$PLAYER" -bind 127.0.0.1 -gp $port -http off -stage $world 2>"$BUILD/log" &
    server=$!
    until grep -q serving "$BUILD/log"; do
      kill -0 $server 2>/dev/null || break
      sleep 0.05
    done
    if kill -0 $server 2>/dev/null; then break; fi
    grep -q "in use" "$BUILD/log" || { cat "$BUILD/log"; return 1; }
  done
  for example in hello avoid follow watch; do
    "$BUILD/$example" 127.0.0.1 $port 15 >"$BUILD/output" || { cat "$BUILD/output"; kill $server; return 1; }
  done
  grep -q 'x -\?[0-9]* y' "$BUILD/output" || { cat "$BUILD/output"; kill $server; return 1; }
  kill $server
  wait $server
}
