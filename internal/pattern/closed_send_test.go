package pattern

import "testing"

func TestClosedSend(t *testing.T) {
	paired(t, ClosedSend, `
		go
		T1 close ch <1
		T2 send ch <2
		ends panic send on closed channel
`, "", `
		go
		T1 close ch <1
		T2 recv ch <2
		ends test-failure
`, OrderViolation)
}
