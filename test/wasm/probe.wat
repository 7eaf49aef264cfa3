;; A tool that does what its input says, good or bad: ["m", c, "text"], where m is one letter and c one digit.
(module
  (import "narthex" "host" (func $host (param i32 i32 i32) (result i64)))
  (memory (export "memory") 1)
  (global $top (mut i32) (i32.const 4096))
  (global $started (mut i32) (i32.const 0))
  (data (i32.const 0) "it was told to")
  (start $start)

  (func $start (global.set $started (i32.const 1)))

  (func $alloc (export "alloc") (param $size i32) (result i32)
    (local $place i32)
    (local $missing i32)
    (local.set $place (global.get $top))
    (global.set $top (i32.add (global.get $top) (local.get $size)))
    (local.set $missing
      (i32.sub (i32.shr_u (i32.add (global.get $top) (i32.const 65535)) (i32.const 16)) (memory.size)))
    (if (i32.gt_s (local.get $missing) (i32.const 0))
      (then (if (i32.eq (memory.grow (local.get $missing)) (i32.const -1)) (then unreachable))))
    (local.get $place))

  (func (export "run") (param $place i32) (param $size i32) (result i64)
    (local $mode i32)
    (local $code i32)
    (local $text i32)
    (local $length i32)
    (if (i32.eqz (global.get $started)) (then unreachable))
    (local.set $mode (i32.load8_u offset=2 (local.get $place)))
    (local.set $code (i32.sub (i32.load8_u offset=5 (local.get $place)) (i32.const 48)))
    (local.set $text (i32.add (local.get $place) (i32.const 8)))
    (local.set $length (i32.sub (local.get $size) (i32.const 10)))
    ;; h: the answer in hex, or the number that was given instead
    (if (i32.eq (local.get $mode) (i32.const 104))
      (then (return (call $told (call $host (local.get $code) (local.get $text) (local.get $length))))))
    ;; w: "path content", with the length of the path before it
    (if (i32.eq (local.get $mode) (i32.const 119))
      (then (return (call $told (call $write (local.get $code) (local.get $text) (local.get $length))))))
    ;; q: JSON with ' for ", with its length before it
    (if (i32.eq (local.get $mode) (i32.const 113))
      (then (return (call $told (call $quoted (local.get $code) (local.get $text) (local.get $length))))))
    ;; r: so many random bytes
    (if (i32.eq (local.get $mode) (i32.const 114))
      (then
        (i32.store (i32.const 64) (i32.const 16))
        (return (call $told (call $host (local.get $code) (i32.const 64) (i32.const 4))))))
    ;; l: a loop without calls
    (if (i32.eq (local.get $mode) (i32.const 108)) (then (loop $again (br $again))))
    ;; c: a loop with calls
    (if (i32.eq (local.get $mode) (i32.const 99)) (then (loop $again (drop (call $alloc (i32.const 0))) (br $again))))
    ;; d: deeper and deeper
    (if (i32.eq (local.get $mode) (i32.const 100)) (then (drop (call $deeper (i32.const 0)))))
    ;; g: all the memory there is, and more
    (if (i32.eq (local.get $mode) (i32.const 103))
      (then (loop $again (br_if $again (i32.ne (memory.grow (i32.const 1)) (i32.const -1)))) unreachable))
    ;; m: as much memory as there is, and then an answer
    (if (i32.eq (local.get $mode) (i32.const 109))
      (then
        (loop $again (br_if $again (i32.ne (memory.grow (i32.const 3)) (i32.const -1))))
        (return (call $number (memory.size)))))
    ;; u, z: traps
    (if (i32.eq (local.get $mode) (i32.const 117)) (then unreachable))
    (if (i32.eq (local.get $mode) (i32.const 122))
      (then (return (call $number (i32.div_u (local.get $size) (i32.const 0))))))
    ;; o: an answer outside of memory
    (if (i32.eq (local.get $mode) (i32.const 111)) (then (return (i64.const 0x7fffffff00000010))))
    ;; p: a request outside of memory
    (if (i32.eq (local.get $mode) (i32.const 112))
      (then (drop (call $host (i32.const 1) (i32.const -16) (i32.const 32)))))
    ;; f: fails, and says why
    (if (i32.eq (local.get $mode) (i32.const 102))
      (then (return (i64.or (i64.const 0x8000000000000000) (call $pack (i32.const 0) (i32.const 14))))))
    ;; n: no answer at all
    (if (i32.eq (local.get $mode) (i32.const 110)) (then (return (i64.const 0))))
    ;; t: text that is no JSON
    (if (i32.eq (local.get $mode) (i32.const 116)) (then (return (call $pack (i32.const 0) (i32.const 14)))))
    ;; anything else: the text itself
    (call $pack (local.get $text) (local.get $length)))

  (func $deeper (param $depth i32) (result i32)
    (i32.add (i32.const 1) (call $deeper (i32.add (local.get $depth) (i32.const 1)))))

  (func $write (param $code i32) (param $text i32) (param $length i32) (result i64)
    (local $blank i32)
    (local $request i32)
    (local.set $blank (local.get $text))
    (loop $next
      (if (i32.ne (i32.load8_u (local.get $blank)) (i32.const 32))
        (then (local.set $blank (i32.add (local.get $blank) (i32.const 1))) (br $next))))
    (local.set $request (call $alloc (i32.add (local.get $length) (i32.const 4))))
    (i32.store (local.get $request) (i32.sub (local.get $blank) (local.get $text)))
    (memory.copy
      (i32.add (local.get $request) (i32.const 4))
      (local.get $text)
      (i32.sub (local.get $blank) (local.get $text)))
    (memory.copy
      (i32.add (local.get $request) (i32.add (i32.const 4) (i32.sub (local.get $blank) (local.get $text))))
      (i32.add (local.get $blank) (i32.const 1))
      (i32.sub (local.get $length) (i32.add (i32.const 1) (i32.sub (local.get $blank) (local.get $text)))))
    (call $host (local.get $code) (local.get $request) (i32.add (local.get $length) (i32.const 3))))

  (func $quoted (param $code i32) (param $text i32) (param $length i32) (result i64)
    (local $at i32)
    (local $request i32)
    (local.set $request (call $alloc (i32.add (local.get $length) (i32.const 4))))
    (i32.store (local.get $request) (local.get $length))
    (memory.copy (i32.add (local.get $request) (i32.const 4)) (local.get $text) (local.get $length))
    (local.set $at (i32.add (local.get $request) (i32.const 4)))
    (loop $next
      (if (i32.eq (i32.load8_u (local.get $at)) (i32.const 39)) (then (i32.store8 (local.get $at) (i32.const 34))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if $next
        (i32.lt_u (local.get $at) (i32.add (local.get $request) (i32.add (local.get $length) (i32.const 4))))))
    (call $host (local.get $code) (local.get $request) (i32.add (local.get $length) (i32.const 4))))

  ;; What the host gave, as JSON: hex in quotes, or a negative number of one digit.
  (func $told (param $given i64) (result i64)
    (local $from i32)
    (local $size i32)
    (local $to i32)
    (local $start i32)
    (if (i64.lt_s (local.get $given) (i64.const 0))
      (then
        (i32.store8 (i32.const 64) (i32.const 45))
        (i32.store8 (i32.const 65) (i32.sub (i32.const 48) (i32.wrap_i64 (local.get $given))))
        (return (call $pack (i32.const 64) (i32.const 2)))))
    (local.set $from (i32.wrap_i64 (i64.shr_u (local.get $given) (i64.const 32))))
    (local.set $size (i32.wrap_i64 (local.get $given)))
    (local.set $start (call $alloc (i32.add (i32.const 2) (i32.mul (i32.const 2) (local.get $size)))))
    (local.set $to (i32.add (local.get $start) (i32.const 1)))
    (i32.store8 (local.get $start) (i32.const 34))
    (block $done
      (loop $next
        (br_if $done (i32.eqz (local.get $size)))
        (i32.store8 (local.get $to) (call $digit (i32.shr_u (i32.load8_u (local.get $from)) (i32.const 4))))
        (i32.store8 offset=1 (local.get $to) (call $digit (i32.and (i32.load8_u (local.get $from)) (i32.const 15))))
        (local.set $to (i32.add (local.get $to) (i32.const 2)))
        (local.set $from (i32.add (local.get $from) (i32.const 1)))
        (local.set $size (i32.sub (local.get $size) (i32.const 1)))
        (br $next)))
    (i32.store8 (local.get $to) (i32.const 34))
    (call $pack (local.get $start) (i32.sub (i32.add (local.get $to) (i32.const 1)) (local.get $start))))

  (func $digit (param $value i32) (result i32)
    (if (result i32) (i32.lt_u (local.get $value) (i32.const 10))
      (then (i32.add (local.get $value) (i32.const 48)))
      (else (i32.add (local.get $value) (i32.const 87)))))

  (func $number (param $number i32) (result i64)
    (local $place i32)
    (local.set $place (i32.const 128))
    (loop $digit
      (local.set $place (i32.sub (local.get $place) (i32.const 1)))
      (i32.store8 (local.get $place) (i32.add (i32.const 48) (i32.rem_u (local.get $number) (i32.const 10))))
      (local.set $number (i32.div_u (local.get $number) (i32.const 10)))
      (br_if $digit (local.get $number)))
    (call $pack (local.get $place) (i32.sub (i32.const 128) (local.get $place))))

  (func $pack (param $place i32) (param $size i32) (result i64)
    (i64.or
      (i64.shl (i64.extend_i32_u (local.get $place)) (i64.const 32))
      (i64.extend_i32_u (local.get $size)))))
