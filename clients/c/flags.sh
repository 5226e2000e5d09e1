# The compilers' flags, for test.sh and adapter.sh. Sanitizers stop a program at
# the first access outside an object and at undefined behaviour.
strict=(-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)
sanitize=(-g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all)
