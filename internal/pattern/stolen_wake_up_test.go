package pattern

import "testing"

func TestStolenWakeUp(t *testing.T) {
	paired(t, StolenWakeUp, `
		T1 lock m
		T1 wait c m
		T0 signal c 1
		T2 lock m <1
		T2 write x 0
		T2 unlock m
		T1 awake c m <2
		T1 read x 0
`, "T0's cond signal#2 has woken T1 before, but T2 acquires the lock first.", `
		T1 lock m
		T1 wait c m
		T2 lock m <1
		T2 write x 0
		T2 unlock m
		T0 signal c 1
		T1 awake c m <2
		T1 read x 0
`, OrderViolation)
}

// TestStolenWakeUpGo: a goroutine that goes on after its wait acquires the lock, though its event does not name it.
func TestStolenWakeUpGo(t *testing.T) {
	paired(t, StolenWakeUp, `
		go
		T1 golock m
		T1 gowait c
		T1 release m
		T0 gosignal c
		T2 golock m <1
		T2 write x 0
		T2 gounlock m
		T1 resume c gowait <2
		T1 acquire m
		T1 read x 0
`, "T0's Cond.Signal#3 has woken T1 before, but T2 acquires the lock first.", `
		go
		T1 golock m
		T1 gowait c
		T1 release m
		T0 gosignal c
		T2 golock m <1
		T2 write x 0
		T2 gounlock m
		T1 resume c gowait <2
		T1 acquire n
		T1 read x 0
`, OrderViolation)
}

// TestOwnWakeUp: a thread that goes on after it has woken another steals nothing if that finds what it waits for.
func TestOwnWakeUp(t *testing.T) {
	paired(t, StolenWakeUp, `
		T1 lock m
		T1 wait c m
		T2 signal c 1
		T2 lock m <1
		T2 write x 0
		T2 unlock m
		T1 awake c m <2
		T1 read x 0
		T1 wait c m
`, "T2's cond signal#2 has woken T1 before, but T2 acquires the lock first.", `
		T1 lock m
		T1 wait c m
		T2 signal c 1
		T2 lock m <1
		T2 write x 0
		T2 unlock m
		T1 awake c m <2
		T1 read x 0
		T1 unlock m
`, OrderViolation)
}
