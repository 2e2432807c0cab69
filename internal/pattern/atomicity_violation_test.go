package pattern

import "testing"

// T2 reads two places between the two critical sections in which T1 changes them.
func TestAtomicityViolation(t *testing.T) {
	x := parse(t, `
		T1 lock m <1
		T1 write a 1
		T1 unlock m
		T2 lock m <2
		T2 read a 1
		T2 read b 0
		T2 unlock m
		T1 lock m
		T1 write b 1
`)
	if got := Of(x).Pattern.Name; got != OrderViolation {
		t.Errorf("%s with one ordering", got)
	}
	x.Rest = &Order{First: 3, Second: 7}
	if got := Of(x).Pattern.Name; got != AtomicityViolation {
		t.Errorf("%s", got)
	}
	if !Conflict(x.Trace, 0, 3) || !Conflict(x.Trace, 3, 7) || Conflict(x.Trace, 0, 7) {
		t.Errorf("%v, %v and %v", Conflict(x.Trace, 0, 3), Conflict(x.Trace, 3, 7), Conflict(x.Trace, 0, 7))
	}
}
