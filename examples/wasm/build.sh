#!/bin/sh
# Builds the modules anew from their sources: clang and lld for C, rustc with the standard library for wasm32 for Rust, wabt
# for WAT. On Debian: apt-get install clang lld rustc libstd-rust-dev-wasm32 wabt. What is missing is said and left out.
set -eu
cd "$(dirname "$0")"
missing=0

need() {
  command -v "$2" >/dev/null 2>&1 && return 0
  echo "$1 is not built: $2 is missing (apt-get install $3)" >&2
  missing=1
  return 1
}

if need c clang clang && need c wasm-ld lld; then
  (cd c && clang --target=wasm32 -Os -nostdlib -ffreestanding -fno-builtin -Wall -Wextra -Werror \
    -Wl,--no-entry -Wl,--strip-all -o word_count.wasm word_count.c)
  echo "built c/word_count.wasm"
fi

# A rustup toolchain of its own may lack the standard library for wasm32; Debian's has it as a package.
if [ -z "${RUSTC:-}" ]; then
  RUSTC=rustc
  [ -d /usr/lib/rustlib/wasm32-unknown-unknown ] && RUSTC=/usr/bin/rustc
fi
if need rust "$RUSTC" "rustc libstd-rust-dev-wasm32" && need rust wasm-ld lld; then
  if [ -d "$("$RUSTC" --print sysroot)/lib/rustlib/wasm32-unknown-unknown" ]; then
    (cd rust && "$RUSTC" --edition 2021 --target wasm32-unknown-unknown --crate-type cdylib \
      -C opt-level=s -C lto=fat -C panic=abort -C linker=wasm-ld -C strip=symbols -o dice.wasm dice.rs)
    echo "built rust/dice.wasm"
  else
    echo "rust is not built: $RUSTC has no standard library for wasm32-unknown-unknown (libstd-rust-dev-wasm32)" >&2
    missing=1
  fi
fi

if need wat wat2wasm wabt; then
  (cd wat && wat2wasm checksum.wat -o checksum.wasm)
  echo "built wat/checksum.wasm"
fi
exit $missing
