package pattern

import "testing"

func TestDoubleClose(t *testing.T) {
	paired(t, DoubleClose, `
		go
		T1 close ch <1
		T2 close ch <2
		ends panic close of closed channel
`, "", `
		go
		T1 close ch <1
		T2 recv ch <2
		ends panic runtime error
`, OrderViolation)
}
