package reversible

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/smt"
	"github.com/heddle-dev/heddle/internal/testing/need"
	"github.com/heddle-dev/heddle/trace"
)

func describe(t *trace.Trace) string {
	var b strings.Builder
	for i, ev := range t.Events {
		fmt.Fprintf(&b, "%3d T%d %v %x aux %x value %d result %d\n", i, ev.Thread, ev.Op, ev.Object.Offset(), ev.Aux&0xffff, ev.Value, ev.Result)
	}
	return b.String()
}

// TestBrute compares the check with all feasible reorderings of random traces.
func TestBrute(t *testing.T) {
	t.Parallel()
	traces := 8000
	if testing.Short() {
		traces = 1000
	}
	answers := map[Answer]int{}
	searched, deadlocks := 0, 0
	for seed := range uint64(traces) {
		r := rand.New(rand.NewPCG(seed, 1))
		threads := 2 + r.IntN(3)
		progs := generate(r, threads, 4-threads/2)
		if seed%2 > 0 {
			progs = contend(r, threads)
		}
		tr := record(r, progs)
		got, err := Check(t.Context(), tr, Options{})
		if err != nil {
			t.Fatal(err)
		}
		answers[got.Answer]++
		searched += got.Searched
		b := newBrute(tr, threads)
		want := b.reverses(nil)
		if got.Deadlock != nil || got.Answer == Holds {
			stuck := newBrute(tr, threads).deadlocks(nil)
			if (stuck != nil) != (got.Deadlock != nil) {
				t.Fatalf("seed %d: %+v, deadlock after %v\n%s", seed, got, stuck, describe(tr))
			}
			if stuck != nil {
				deadlocks++
				if !newBrute(tr, threads).stuck(got.Deadlock.Order) {
					t.Fatalf("seed %d: no deadlock after %v\n%s", seed, got.Deadlock.Order, describe(tr))
				}
				continue
			}
		}
		if (want != nil) != (got.Answer == Fails) || got.Answer == Undecided {
			t.Fatalf("seed %d: %+v, all reorderings: %v\n%s", seed, got, want, describe(tr))
		}
		if got.Answer == Fails {
			checkOrder(t, b, tr, threads, got, fmt.Sprint("seed ", seed))
		}
	}
	t.Logf("%v, %d pairs searched, %d deadlocks", answers, searched, deadlocks)
	if searched < answers[Fails]-deadlocks+traces/50 {
		t.Errorf("the search ruled out only %d pairs", searched-answers[Fails]+deadlocks)
	}
	if deadlocks < traces/50 {
		t.Errorf("only %d deadlocks", deadlocks)
	}
	if answers[Holds] < traces/20 || answers[Fails] < traces/20 {
		t.Errorf("%v: too few of one answer to mean anything", answers)
	}
}

// checkOrder checks that a reordering is feasible and reverses its pair.
func checkOrder(t *testing.T, b *brute, tr *trace.Trace, threads int, got *Result, what string) {
	t.Helper()
	if _, _, err := b.replay(got.Order); err != nil {
		t.Fatalf("%s: order %v of pair %v: %v\n%s", what, got.Order, got.Pair, err, describe(tr))
	}
	if !dependent(tr, threads, &tr.Events[got.Pair.First], &tr.Events[got.Pair.Second]) {
		t.Fatalf("%s: pair %v is not dependent\n%s", what, got.Pair, describe(tr))
	}
	if got.Order[len(got.Order)-1] != got.Pair.Second {
		t.Fatalf("%s: the order %v does not end with the pair's second event", what, got.Order)
	}
	for _, e := range got.Order {
		if e == got.Pair.First {
			t.Fatalf("%s: the order %v has the pair's first event %d", what, got.Order, e)
		}
	}
}

// TestSolver compares the search with the formula, decided by a real solver, on the pairs that vector
// clocks leave.
func TestSolver(t *testing.T) {
	t.Parallel()
	need.Tool(t, "z3")
	solver := smt.Find(time.Minute)
	pairs := 160
	if testing.Short() {
		pairs = 60
	}
	count := map[Verdict]int{}
	for seed := uint64(0); pairs > 0; seed++ {
		r := rand.New(rand.NewPCG(seed, 2))
		threads := 2 + r.IntN(3)
		progs := generate(r, threads, 5)
		if seed%2 > 0 {
			progs = contend(r, threads)
		}
		tr := record(r, progs)
		m := compile(tr)
		budget := 1 << 30
		negative := false
		for _, c := range m.candidates(&Result{}) {
			want, _ := newSearch(m, &budget).reverse(c.first, c.second)
			// Most pairs are reversible: the others are what this test is for.
			if want == Possible && (negative || seed%8 > 0) {
				continue
			}
			negative = true
			got, order, err := m.solve(t.Context(), c, solver.Solve)
			if err != nil || got != want {
				t.Fatalf("seed %d, pair %v: the solver says %v (%v, %v), the search %v\n%s", seed, c, got, order, err, want, describe(tr))
			}
			count[got]++
			pairs--
		}
	}
	if count[Possible] < 10 || count[Impossible] < 10 {
		t.Errorf("%v: too few of one answer to mean anything", count)
	}
	t.Logf("%v (1: impossible, 2: possible)", count)
}

// pipeline is a long trace in which no pair can be reversed: workers take turns at a barrier, and each
// round reads what its neighbours wrote in the last one.
func pipeline(events, threads int) *trace.Trace {
	t := &trace.Trace{Header: trace.Header{Target: "c", Instrumented: true}}
	add := func(thread int, op trace.Op, o trace.Object, value uint64) {
		t.Events = append(t.Events, trace.Event{Thread: trace.ThreadID(thread), Op: op, Object: o, Size: 8, Value: value})
	}
	b := object(barriers, 0)
	add(0, trace.OpBarrierInit, b, uint64(threads))
	for u := 1; u <= threads; u++ {
		add(0, trace.OpThreadCreate, 0, uint64(u))
	}
	for u := 1; u <= threads; u++ {
		add(u, trace.OpThreadStart, 0, 0)
	}
	cell := func(round, u int) trace.Object { return object(variables, (round%2)*threads+(u+threads)%threads) }
	for round := 0; len(t.Events) < events; round++ {
		for u := 1; u <= threads; u++ {
			for k := range 3 {
				add(u, trace.OpRead, cell(round, u+k-1), 0)
			}
			add(u, trace.OpMutexLock, object(mutexes, 0), 0)
			add(u, trace.OpMutexUnlock, object(mutexes, 0), 0)
			add(u, trace.OpWrite, cell(round+1, u), 0)
		}
		for u := 1; u <= threads; u++ {
			add(u, trace.OpBarrierWait, b, uint64(u))
		}
		for u := 1; u <= threads; u++ {
			add(u, trace.OpBarrierLeave, b, 0)
		}
	}
	return t
}

// handoff is a long trace in which only the search can tell that no pair can be reversed: two producers
// write, then post the same semaphore, and the consumer takes both posts before it reads.
func handoff(events int) *trace.Trace {
	t := &trace.Trace{Header: trace.Header{Target: "c", Instrumented: true}}
	add := func(thread int, op trace.Op, o trace.Object, value uint64) {
		t.Events = append(t.Events, trace.Event{Thread: trace.ThreadID(thread), Op: op, Object: o, Size: 8, Value: value})
	}
	full, empty := object(sems, 0), [2]trace.Object{object(sems, 1), object(sems, 2)}
	for _, s := range []trace.Object{full, empty[0], empty[1]} {
		add(0, trace.OpSemInit, s, 0)
	}
	for u := range 2 {
		add(0, trace.OpThreadCreate, 0, uint64(u+1))
		add(u+1, trace.OpThreadStart, 0, 0)
	}
	for len(t.Events) < events {
		for u := range 2 {
			add(u+1, trace.OpWrite, object(variables, u), 0)
			add(u+1, trace.OpSemPost, full, uint64(u+1))
		}
		for u := range 2 {
			add(0, trace.OpSemWait, full, uint64(1-u))
		}
		for u := range 2 {
			add(0, trace.OpRead, object(variables, u), 0)
		}
		for u := range 2 {
			add(0, trace.OpSemPost, empty[u], 1)
			add(u+1, trace.OpSemWait, empty[u], 0)
		}
	}
	return t
}

// TestLong checks long traces: the time must grow with the length, not with its square.
func TestLong(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(int) *trace.Trace{
		"barrier":   func(n int) *trace.Trace { return pipeline(n, 4) },
		"semaphore": handoff,
	} {
		tr := make(20_000)
		r, err := Check(t.Context(), tr, Options{})
		if err != nil || r.Answer != Holds {
			t.Errorf("%s: %+v, %v; want that it holds", name, r, err)
		}
		t.Logf("%s: %+v", name, r)
		// A read that nothing orders with the last write: the same trace with one fault.
		last := len(tr.Events) - 1
		for tr.Events[last].Op != trace.OpWrite {
			last--
		}
		bad := *tr
		bad.Events = append(append([]trace.Event(nil), tr.Events[:last+1]...), trace.Event{Op: trace.OpRead, Object: tr.Events[last].Object, Size: 8})
		if r, err = Check(t.Context(), &bad, Options{}); err != nil || r.Answer != Fails || r.Pair != (Pair{last, last + 1}) {
			t.Errorf("%s with an unordered read: %v, pair %v, %v; want %v", name, r.Answer, r.Pair, err, Pair{last, last + 1})
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		for name, make := range map[string]func(int) *trace.Trace{
			"barrier":   func(n int) *trace.Trace { return pipeline(n, 4) },
			"semaphore": handoff,
		} {
			tr := make(n)
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				for b.Loop() {
					if r, err := Check(b.Context(), tr, Options{}); err != nil || r.Answer != Holds {
						b.Fatal(r, err)
					}
				}
			})
		}
	}
}

// TestUnmodelled checks that operations that are not modelled give neither answer.
func TestUnmodelled(t *testing.T) {
	t.Parallel()
	x, y, futex := object(variables, 0), object(variables, 1), object(sems, 0)
	event := func(thread int, op trace.Op, o trace.Object) trace.Event {
		return trace.Event{Thread: trace.ThreadID(thread), Op: op, Object: o, Size: 4}
	}
	create := event(0, trace.OpThreadCreate, 0)
	create.Value = 1
	events := []trace.Event{
		create, event(0, trace.OpFutexWait, futex),
		event(1, trace.OpThreadStart, 0), event(1, trace.OpWrite, x), event(1, trace.OpFutexWake, futex),
		event(0, trace.OpFutexWakeup, futex), event(0, trace.OpRead, x),
	}
	tr := &trace.Trace{Events: events}
	r, err := Check(t.Context(), tr, Options{Confirm: func(context.Context, Pair, []int) (bool, error) { return true, nil }})
	if err != nil || r.Answer != Undecided || !strings.Contains(r.Why, "futex wait") {
		t.Errorf("%+v, %v; want undecided because of futexes", r, err)
	}
	tr.Events = append([]trace.Event{create, event(0, trace.OpRead, y), event(1, trace.OpThreadStart, 0), event(1, trace.OpWrite, y)}, events[1:2]...)
	tr.Events = append(tr.Events, events[3:]...)
	for _, confirmed := range []bool{true, false} {
		want := Fails
		if !confirmed {
			want = Undecided
		}
		r, err = Check(t.Context(), tr, Options{Confirm: func(context.Context, Pair, []int) (bool, error) { return confirmed, nil }})
		if err != nil || r.Answer != want || confirmed && r.Pair != (Pair{1, 3}) {
			t.Errorf("executions say %v: %+v, %v; want %v with the pair {1 3}", confirmed, r, err, want)
		}
	}
}

// TestNecessaryPost checks that a wait needs only as many posts of a single thread as it takes.
func TestNecessaryPost(t *testing.T) {
	t.Parallel()
	x, s := object(variables, 0), object(sems, 0)
	event := func(thread int, op trace.Op, o trace.Object, value uint64) trace.Event {
		return trace.Event{Thread: trace.ThreadID(thread), Op: op, Object: o, Size: 4, Value: value}
	}
	tr := &trace.Trace{Events: []trace.Event{
		event(0, trace.OpSemInit, s, 0), event(0, trace.OpThreadCreate, 0, 1), event(1, trace.OpThreadStart, 0, 0),
		event(1, trace.OpSemPost, s, 1), event(1, trace.OpWrite, x, 0), event(1, trace.OpSemPost, s, 2),
		event(0, trace.OpSemWait, s, 1), event(0, trace.OpSemWait, s, 0), event(0, trace.OpRead, x, 0),
	}}
	for _, test := range []struct {
		trace []trace.Event
		want  Answer
	}{
		{tr.Events, Holds}, // the second wait needs the second post
		{append(append([]trace.Event{}, tr.Events[:7]...), tr.Events[8]), Fails}, // the only wait needs the first
	} {
		r, err := Check(t.Context(), &trace.Trace{Events: test.trace}, Options{})
		if err != nil || r.Answer != test.want || r.Answer == Holds && r.Left > 0 {
			t.Errorf("%d events: %+v, %v; want %v, by vector clocks alone if it holds", len(test.trace), r, err, test.want)
		}
	}
}
