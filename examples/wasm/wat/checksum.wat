;; The Adler-32 checksum of the input, as a JSON number. A tool in fifty lines: what it exports, and one host call.
(module
  (import "narthex" "host" (func $host (param $code i32) (param $place i32) (param $size i32) (result i64)))
  (memory (export "memory") 1)
  (global $top (mut i32) (i32.const 1024))
  (data (i32.const 0) "counting")

  ;; Memory is never given back: an instance lives for one call.
  (func (export "alloc") (param $size i32) (result i32)
    (local $place i32)
    (local $missing i32)
    (local.set $place (global.get $top))
    (global.set $top (i32.add (global.get $top) (local.get $size)))
    (local.set $missing
      (i32.sub
        (i32.shr_u (i32.add (global.get $top) (i32.const 65535)) (i32.const 16))
        (memory.size)))
    (if (i32.gt_s (local.get $missing) (i32.const 0))
      (then (if (i32.eq (memory.grow (local.get $missing)) (i32.const -1)) (then unreachable))))
    (local.get $place))

  (func (export "run") (param $place i32) (param $size i32) (result i64)
    (local $end i32)
    (local $a i32)
    (local $b i32)
    ;; log("counting")
    (drop (call $host (i32.const 1) (i32.const 0) (i32.const 8)))
    (local.set $a (i32.const 1))
    (local.set $end (i32.add (local.get $place) (local.get $size)))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $place) (local.get $end)))
        (local.set $a
          (i32.rem_u (i32.add (local.get $a) (i32.load8_u (local.get $place))) (i32.const 65521)))
        (local.set $b (i32.rem_u (i32.add (local.get $b) (local.get $a)) (i32.const 65521)))
        (local.set $place (i32.add (local.get $place) (i32.const 1)))
        (br $next)))
    (call $number (i32.or (i32.shl (local.get $b) (i32.const 16)) (local.get $a))))

  ;; Writes the digits of a number down to 128, and gives their place and how many they are.
  (func $number (param $number i32) (result i64)
    (local $place i32)
    (local.set $place (i32.const 128))
    (loop $digit
      (local.set $place (i32.sub (local.get $place) (i32.const 1)))
      (i32.store8
        (local.get $place)
        (i32.add (i32.const 48) (i32.rem_u (local.get $number) (i32.const 10))))
      (local.set $number (i32.div_u (local.get $number) (i32.const 10)))
      (br_if $digit (local.get $number)))
    (i64.or
      (i64.shl (i64.extend_i32_u (local.get $place)) (i64.const 32))
      (i64.extend_i32_u (i32.sub (i32.const 128) (local.get $place))))))
