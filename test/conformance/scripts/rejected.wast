;; Modules that the meter does not take, and what was to be done with them.
(module $shared (memory (export "memory") 1) (func (export "byte") (result i32) (i32.load8_u (i32.const 0))))
(assert_return (invoke "byte") (i32.const 0))
(register "shared" $shared)
(module (import "shared" "memory" (memory 1)) (data (i32.const 0) "a"))
;; The rejected module would have written this.
(assert_return (invoke $shared "byte") (i32.const 97))
(module (func (export "f") (result i32) (i32.const 1)))
(assert_return (invoke "f") (i32.const 1))
