package pattern

import "testing"

func TestABA(t *testing.T) {
	paired(t, ABA, `
		T1 load head 1
		T1 load next 2
		T2 cas head 1
		T2 cas head 2
		T2 store next 3
		T2 cas head 3 <1
		T1 cas head 1 <2
		ends assertion
`, "The compare-and-swap succeeds, as it finds the value 1 again, but the memory has changed twice since: by T2's atomic cas#2 and by T2's atomic cas#5.", `
		T1 load held 0
		T1 read other 1
		T2 cas held 0
		T2 write x 1
		T2 store held 0 <1
		T1 cas held 0 <2
		ends assertion
`, OrderViolation)
}

// TestTriedAgain: the state is taken and given back between a thread's look at it and its compare-and-swap, and so is what the thread has read in between.
func TestTriedAgain(t *testing.T) {
	paired(t, ABA, `
		T1 load state 0
		T1 read data 0
		T2 cas state 0
		T2 write data 1
		T2 store state 0 <1
		T1 cas state 0 <2
		T1 write data 1
		ends assertion
`, "The compare-and-swap succeeds, as it finds the value 0 again, but the memory has changed twice since: by T2's atomic cas#2 and by T2's atomic store#4.", `
		T1 load state 0
		T2 store state 1 <1
		T1 cas state 1 <2
		T1 write data 1
		ends assertion
`, OrderViolation)
}
