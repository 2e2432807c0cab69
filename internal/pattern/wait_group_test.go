package pattern

import "testing"

func TestWaitGroup(t *testing.T) {
	paired(t, WaitGroup, `
		go
		T0 wgwait wg <1
		T1 add wg 1 <2
		ends test-failure
`, "", `
		go
		T0 wgwait wg <1
		T1 add wg -1 <2
		ends test-failure
`, OrderViolation)
}
