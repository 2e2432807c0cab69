package pattern

import (
	"slices"
	"testing"
)

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

// TestLeakUse: the last operation by which another goroutine used what one waits for is among the steps.
func TestLeakUse(t *testing.T) {
	m := Of(parse(t, `
		go
		T0 recv ch
		T0 read x 0 <1
		T1 write x 1 <2
		T1 send ch
		T1 waits send ch
		ends goroutine-leak
`))
	if m == nil || !slices.Equal(m.More, []int{0}) {
		t.Errorf("%+v, want event 0", m)
	}
}
