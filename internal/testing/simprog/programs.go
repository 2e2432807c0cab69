package simprog

import "fmt"

// Programs with a bug that some schedule shows and the schedule without preemptions does
// not, unless stated otherwise. Counting is that of trace.Cost. None may be inlined: every
// copy would have instructions of its own, and be another build to its traces.

// LostUpdate is threads that each add 1 to a plain counter; main joins them and asserts
// the sum. The bug needs one preemption, between a read and the write that follows it,
// and memory points.
//
//go:noinline
func LostUpdate(threads int) Program {
	return Program{Name: fmt.Sprintf("lost-update-%d", threads), Main: func(t *Thread) {
		counter := t.Var(0)
		join(t, threads, func(t *Thread) { t.Write(counter, t.Read(counter)+1) })
		t.Assert(t.Read(counter) == int64(threads), "counter == threads")
	}}
}

// LockedUpdate is LostUpdate done right.
//
//go:noinline
func LockedUpdate(threads int) Program {
	return Program{Name: fmt.Sprintf("locked-update-%d", threads), Main: func(t *Thread) {
		counter, m := t.Var(0), t.Mutex()
		join(t, threads, func(t *Thread) {
			t.Lock(m)
			t.Write(counter, t.Read(counter)+1)
			t.Unlock(m)
		})
		t.Assert(t.Read(counter) == int64(threads), "counter == threads")
	}}
}

// ABBA is two threads that take two locks in opposite orders.
//
//go:noinline
func ABBA() Program {
	return Program{Name: "abba", Main: func(t *Thread) {
		a, b := t.Mutex(), t.Mutex()
		one := t.Go(func(t *Thread) {
			t.Lock(a)
			t.Lock(b)
			t.Unlock(b)
			t.Unlock(a)
		})
		two := t.Go(func(t *Thread) {
			t.Lock(b)
			t.Lock(a)
			t.Unlock(a)
			t.Unlock(b)
		})
		t.Join(one)
		t.Join(two)
	}}
}

// LostWakeup is a consumer that tests a flag before it takes the lock and then waits for
// a signal that may have been given already. No memory point is needed: the flag is
// atomic.
//
//go:noinline
func LostWakeup() Program {
	return Program{Name: "lost-wakeup", Main: func(t *Thread) {
		ready, m, c := t.Var(0), t.Mutex(), t.Cond()
		consumer := t.Go(func(t *Thread) {
			if t.Load(ready) == 0 {
				t.Lock(m)
				t.Wait(c, m)
				t.Unlock(m)
			}
		})
		t.Store(ready, 1)
		t.Lock(m)
		t.Signal(c)
		t.Unlock(m)
		t.Join(consumer)
	}}
}

// OrderViolation is a worker that uses a pointer which main sets after creating it:
// SIGSEGV if the worker comes first.
//
//go:noinline
func OrderViolation() Program {
	return Program{Name: "order-violation", Main: func(t *Thread) {
		pointer := t.Var(0)
		worker := t.Go(func(t *Thread) {
			if t.Read(pointer) == 0 {
				t.Crash(11)
			}
		})
		t.Write(pointer, 1)
		t.Join(worker)
	}}
}

// UseAfterFree is a worker that uses a block which main frees without waiting for it.
//
//go:noinline
func UseAfterFree() Program {
	return Program{Name: "use-after-free", Main: func(t *Thread) {
		block, m, done := t.New(7), t.Mutex(), t.Var(0)
		worker := t.Go(func(t *Thread) {
			t.Lock(m)
			t.Store(done, 1)
			t.Unlock(m)
			t.Read(block)
		})
		for t.Load(done) == 0 {
			t.Yield()
		}
		t.Free(block)
		t.Join(worker)
	}}
}

// ExitStatus exits with a status that depends on which of two threads comes first. Its
// ordinary status is not 0.
//
//go:noinline
func ExitStatus() Program {
	return Program{Name: "exit-status", Main: func(t *Thread) {
		winner := t.Var(0)
		one := t.Go(func(t *Thread) { t.CompareAndSwap(winner, 0, 1) })
		two := t.Go(func(t *Thread) { t.CompareAndSwap(winner, 0, 2) })
		t.Join(one)
		t.Join(two)
		t.Exit(7 + int(t.Load(winner)))
	}}
}

// Polite is two threads that yield to each other forever once both want to go.
//
//go:noinline
func Polite() Program {
	return Program{Name: "polite", Main: func(t *Thread) {
		wants := []*Word{t.Var(0), t.Var(0)}
		cross := func(me int) func(*Thread) {
			return func(t *Thread) {
				t.Store(wants[me], 1)
				for t.Load(wants[1-me]) != 0 {
					t.Yield()
				}
				t.Store(wants[me], 0)
			}
		}
		one := t.Go(cross(0))
		two := t.Go(cross(1))
		t.Join(one)
		t.Join(two)
	}}
}

// StandStill has a bug only where one thread stands still between two of its operations
// while another does a long run of them. A plain random walk has no chance.
//
//go:noinline
func StandStill(run int) Program {
	return Program{Name: fmt.Sprintf("stand-still-%d", run), Main: func(t *Thread) {
		open, noise, steps, seen := t.Var(0), t.Var(0), t.Var(0), 0
		one := t.Go(func(t *Thread) {
			for range run {
				t.Add(noise, 1)
			}
			t.Store(open, 1)
			t.Store(open, 0)
		})
		two := t.Go(func(t *Thread) {
			for range run / 2 {
				t.Add(steps, 1) // or it would be spinning
				if t.Load(open) == 1 {
					seen++
				}
			}
		})
		t.Join(one)
		t.Join(two)
		t.Assert(seen < run/2, "seen < run/2")
	}}
}

// FarAhead has a bug only where one thread does a long run of operations of its own
// before another one does its first.
//
//go:noinline
func FarAhead(run int) Program {
	return Program{Name: fmt.Sprintf("far-ahead-%d", run), Main: func(t *Thread) {
		m, x := t.Mutex(), t.Var(0)
		two := t.Go(func(t *Thread) { t.Store(x, 1) })
		one := t.Go(func(t *Thread) {
			for range run {
				t.Lock(m)
				t.Unlock(m)
			}
			t.Assert(t.Load(x) == 1, "x was set")
		})
		t.Join(one)
		t.Join(two)
	}}
}

// TwoStage hides its second race behind its first: only a schedule that loses the first
// race lets the second pair of accesses be executed at all. So the second one's sites are
// known only once executions with the first as points have been recorded.
//
//go:noinline
func TwoStage() Program {
	return Program{Name: "two-stage", Main: func(t *Thread) {
		first, second := t.Var(0), t.Var(0)
		join(t, 2, func(t *Thread) {
			t.Write(first, t.Read(first)+1)
			t.Yield()
			t.Yield()               // what follows the first one belongs to it
			if t.Read(first) == 1 { // one update was lost
				t.Write(second, t.Read(second)+1)
			}
		})
		if t.Read(first) == 1 {
			t.Assert(t.Read(second) == 2, "second == 2")
		}
	}}
}

// join runs threads of one body and waits for all.
func join(t *Thread, threads int, body func(*Thread)) {
	var all []*Thread
	for range threads {
		all = append(all, t.Go(body))
	}
	for _, other := range all {
		t.Join(other)
	}
}

// Reorder has n threads that write two variables, and one that reads both, after Reorder of the
// public benchmarks. It fails if that one reads the first as written and the second as not.
func Reorder(n int) Program {
	return Program{Name: "reorder", Main: func(t *Thread) {
		a, b := t.Var(0), t.Var(0)
		var threads []*Thread
		for range n {
			threads = append(threads, t.Go(func(t *Thread) {
				t.Write(a, 1)
				t.Write(b, -1)
			}))
		}
		threads = append(threads, t.Go(func(t *Thread) {
			x := t.Read(a)
			y := t.Read(b)
			t.Assert(y == -x, "b == -a")
		}))
		for _, u := range threads {
			t.Join(u)
		}
	}}
}

// Stages has n threads that publish a value in two critical sections, and one that reads it in two,
// after TwoStage of the public benchmarks. It fails if that one comes between the sections of the
// first to publish.
func Stages(n int) Program {
	return Program{Name: "stages", Main: func(t *Thread) {
		first, second := t.Mutex(), t.Mutex()
		a, b := t.Var(0), t.Var(0)
		var threads []*Thread
		for range n {
			threads = append(threads, t.Go(func(t *Thread) {
				t.Lock(first)
				t.Write(a, 1)
				t.Unlock(first)
				t.Lock(second)
				t.Write(b, t.Read(a)+1)
				t.Unlock(second)
			}))
		}
		threads = append(threads, t.Go(func(t *Thread) {
			t.Lock(first)
			x := t.Read(a)
			t.Unlock(first)
			if x == 0 {
				return
			}
			t.Lock(second)
			y := t.Read(b)
			t.Unlock(second)
			t.Assert(y == x+1, "b == a + 1")
		}))
		for _, u := range threads {
			t.Join(u)
		}
	}}
}

// Shielded has two threads that write a variable without a lock, one before n critical sections and
// the other after n of its own. The writes race only where all of the latter come before all of
// the former; in other executions a lock orders them.
func Shielded(n int) Program {
	return Program{Name: "shielded", Main: func(t *Thread) {
		m := t.Mutex()
		x := t.Var(0)
		sections := func(t *Thread) {
			for range n {
				t.Lock(m)
				t.Unlock(m)
			}
		}
		first := t.Go(func(t *Thread) {
			t.Write(x, 1)
			sections(t)
		})
		second := t.Go(func(t *Thread) {
			sections(t)
			t.Write(x, 2)
		})
		t.Join(first)
		t.Join(second)
	}}
}
