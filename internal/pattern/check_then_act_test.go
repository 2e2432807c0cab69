package pattern

import (
	"strings"
	"testing"
)

func TestCheckThenAct(t *testing.T) {
	paired(t, CheckThenAct, `
		T1 lock m
		T1 read x 1
		T1 unlock m
		T2 lock m
		T2 write x 0 <1
		T2 unlock m
		T1 lock m
		T1 read x 0 <2
`, "", `
		T2 lock m
		T2 write x 0 <1
		T2 unlock m
		T1 lock m
		T1 read x 0 <2
		T1 read x 0
`, OrderViolation)
}

// A section of a lock that its thread acquires again ends with the last release.
func TestCheckInNestedSection(t *testing.T) {
	const nested = `
		T1 lock m <1
		T1 lock m
		T1 read x 0
		T1 unlock m
		T1 unlock m
		T2 lock m <2
		T2 write x 1
		T2 unlock m
		T1 lock m
		T1 read x 1
		T1 write x 2
`
	paired(t, CheckThenAct, nested+"ends assertion T1", "", strings.Replace(nested, "T1 lock m\n\t\tT1 read x 0", "T1 unlock m\n\t\tT1 read x 0", 1)+"ends assertion T1", OrderViolation)
}

// What a third thread writes is what is read.
func TestCheckUndone(t *testing.T) {
	paired(t, CheckThenAct, `
		T1 read x 0 <1
		T2 write x 1 <2
		T1 read x 1
		ends assertion T1
`, "", `
		T1 read x 0 <1
		T2 write x 1 <2
		T3 write x 0
		T1 read x 0
		ends assertion T1
`, OrderViolation)
}
