#!/bin/sh
# Compiles the kernels anew. Debian: apt-get install clang lld
set -eu
cd "$(dirname "$0")"
for source in *.c; do
  clang --target=wasm32 -O2 -fno-builtin -nostdlib -Wl,--no-entry -Wl,--strip-all -o "${source%.c}.wasm" "$source"
done
