package pattern

import "testing"

func TestLivelock(t *testing.T) {
	paired(t, Livelock, `
		T1 write a 1
		T2 write b 1 <1
		T1 read b 1 <2
		T1 waits yield
		T2 waits yield
		ends livelock
`, "1 2 run without end, and none gets further.", `
		T1 write a 1
		T2 write b 1 <1
		T1 read b 1 <2
		T1 waits yield
		T2 waits yield
		ends hang
`, OrderViolation)
}
