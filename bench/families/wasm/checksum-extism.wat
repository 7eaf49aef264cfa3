;; The same Adler-32 as examples/wasm/wat/checksum.wat, for Extism: its kernel hands bytes out one by one or by eight.
(module
  (import "extism:host/env" "input_length" (func $input_length (result i64)))
  (import "extism:host/env" "input_load_u8" (func $input_load_u8 (param i64) (result i32)))
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store_u8 (param i64 i32)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (func (export "run") (result i32)
    (local $at i64)
    (local $end i64)
    (local $a i32)
    (local $b i32)
    (local $place i64)
    (local $number i32)
    (local.set $end (call $input_length))
    (local.set $a (i32.const 1))
    (block $done
      (loop $next
        (br_if $done (i64.ge_u (local.get $at) (local.get $end)))
        (local.set $a
          (i32.rem_u (i32.add (local.get $a) (call $input_load_u8 (local.get $at))) (i32.const 65521)))
        (local.set $b (i32.rem_u (i32.add (local.get $b) (local.get $a)) (i32.const 65521)))
        (local.set $at (i64.add (local.get $at) (i64.const 1)))
        (br $next)))
    (local.set $number (i32.or (i32.shl (local.get $b) (i32.const 16)) (local.get $a)))
    (local.set $place (i64.add (call $alloc (i64.const 10)) (i64.const 10)))
    (local.set $end (local.get $place))
    (loop $digit
      (local.set $place (i64.sub (local.get $place) (i64.const 1)))
      (call $store_u8 (local.get $place) (i32.add (i32.const 48) (i32.rem_u (local.get $number) (i32.const 10))))
      (local.set $number (i32.div_u (local.get $number) (i32.const 10)))
      (br_if $digit (local.get $number)))
    (call $output_set (local.get $place) (i64.sub (local.get $end) (local.get $place)))
    (i32.const 0)))
