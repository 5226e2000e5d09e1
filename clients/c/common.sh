# What the scripts of the C and C++ clients have in common.

# Sanitizers stop a program at the first access outside an object and at undefined
# behaviour.
strict=(-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)
sanitize=(-g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all)

# What a program with TLS compiles and links as well, if OpenSSL is there.
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
