package pattern

import "testing"

func TestDoubleChecked(t *testing.T) {
	paired(t, DoubleChecked, `
		T1 read config 0
		T1 lock m
		T1 read config 0
		T1 write config 8
		T2 read config 8
		T2 read limit 0 <1
		ends assertion T2
		passing:
		T1 write limit 64 <2
`, "T1's write#3 comes before that, and T2's read#4 finds it set without the lock that T1 still holds.", `
		T1 read config 0
		T1 lock m
		T1 read config 0
		T1 write config 8
		T1 unlock m
		T2 read config 8
		T2 read limit 0 <1
		ends assertion T2
		passing:
		T1 write limit 64 <2
`, OrderViolation)
}
