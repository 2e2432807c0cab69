package pattern

import "testing"

func TestLeak(t *testing.T) {
	paired(t, Leak, `
		go
		T0 recv ch
		T0 read x 0 <1
		T1 write x 1 <2
		T1 send ch
		T1 waits send ch
		ends goroutine-leak
`, "T1 waits when the execution ends, and T0, the last other one that used it, has ended.", `
		go
		T0 recv ch
		T0 read x 0 <1
		T1 write x 1 <2
		T1 send ch
		T1 waits send ch
		T2 waits send ch
		ends goroutine-leak
`, OrderViolation)
}
