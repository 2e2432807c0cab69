package ops_test

import (
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/internal/testing/simprog"
	"github.com/heddle-dev/heddle/internal/testing/tracegen"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// free reports whether no thread but t holds o.
func free(s *ops.State, o trace.Object, t trace.ThreadID) bool {
	_, mine := s.HoldOf(t, o)
	return mine || len(s.Holders(o, t)) == 0
}

// follow applies a trace to a state and compares, event by event, the state with the event's
// fields. The traced program initialises every object it uses.
func follow(t *testing.T, name string, tr *trace.Trace) (checked int) {
	t.Helper()
	s := &ops.State{}
	counted := map[trace.Object]bool{} // semaphores that have had an event
	for i := range tr.Events {
		e := &tr.Events[i]
		fail := func(format string, args ...any) {
			t.Helper()
			t.Errorf("%s: event %d (T%d %v result %d): "+format, append([]any{name, i, e.Thread, e.Op, e.Result}, args...)...)
		}
		spec := ops.Of(e.Op)
		did := e.Result == 0 || spec.Done(e)
		// If it did not fail, the condition it blocks on must hold.
		if e.Result == 0 && e.Flags&(trace.FlagTimeout|trace.FlagNoDecision) == 0 {
			switch spec.Blocks {
			case ops.UntilFree, ops.UntilReadable, ops.UntilDone, ops.UntilReacquired, ops.UntilWoken, ops.UntilPositive:
				if checked++; !s.Can(e.Thread, e) && (spec.Of != ops.Semaphore || counted[e.Object]) {
					fail("the state says that it blocks")
				}
			}
		}
		if spec.Does == ops.Acquire && did && !free(s, e.Object, e.Thread) {
			fail("it is held by %v", s.Holders(e.Object, -1))
		}
		if _, mine := s.HoldOf(e.Thread, e.Object); spec.Does == ops.Release && did && !mine {
			fail("it does not hold it")
		}
		counted[e.Object] = counted[e.Object] || spec.Of == ops.Semaphore && spec.Does != ops.Opaque && e.Result == 0
		woke, may := 0, 0
		for _, c := range s.Apply(e) {
			switch c.Kind {
			case ops.Woke:
				woke++
				if u := trace.ThreadID(e.Value) - 1; spec.Does == ops.WakeOne && c.Thread != u {
					fail("the state says it woke T%d", c.Thread)
				}
			case ops.MayWake:
				may++
			case ops.Upped:
				if checked++; int64(c.N)+1 != int64(e.Value) {
					fail("the state counted %d before", c.N)
				}
			case ops.Downed:
				if checked++; int64(c.N)-1 != int64(e.Value) {
					fail("the state counted %d before", c.N)
				}
			case ops.Arrived:
				if checked++; c.First != (e.Value == 1) {
					fail("arrival %d begins a generation: %v", e.Value, c.First)
				}
			}
		}
		switch spec.Does {
		case ops.WakeAll, ops.WakeSome:
			if checked++; woke != int(e.Value) && (woke > 0 || may <= int(e.Value)) {
				fail("the state says it woke %d of %d", woke, e.Value)
			}
		}
	}
	return checked
}

// undecided reports whether the event's enabledness depends on something that a trace does not
// record: room in a pipe, time, which signals are pending.
func undecided(n, e *trace.Event) bool {
	spec := ops.Of(n.Op)
	return spec.Blocks == ops.UntilDelivery || spec.Of == ops.Descriptor || spec.Does == ops.Join ||
		n != e && (spec.Blocks == ops.UntilTime || n.Flags&trace.FlagTimeout != 0)
}

// compare compares Enabled with the trace's own sets, and returns the number of comparisons.
func compare(t *testing.T, name string, tr *trace.Trace) (compared int) {
	t.Helper()
	next := make([]*trace.Event, len(tr.Threads))
	enabled := ops.Enabled(tr)
	for i := len(tr.Events) - 1; i >= 0; i-- {
		e := &tr.Events[i]
		if e.Flags&trace.FlagNoDecision != 0 {
			continue
		}
		next[e.Thread] = e
		for u, n := range next {
			if n == nil || undecided(n, e) {
				continue
			}
			compared++
			if got, want := enabled[i].Has(trace.ThreadID(u)), e.Enabled.Has(trace.ThreadID(u)); got != want {
				t.Errorf("%s: event %d (T%d %v): could T%d do %v? %v, the trace says %v", name, i, e.Thread, e.Op, u, n.Op, got, want)
			}
		}
	}
	return compared
}

// TestRecordedTraces compares the state with the runtime's recordings: which threads were
// enabled at each scheduling point, and which held and woke what. The traces are of the programs of
// testdata/conformance and testdata/programs, accesses to memory omitted.
func TestRecordedTraces(t *testing.T) {
	files, err := filepath.Glob("testdata/recorded/*")
	if err != nil || len(files) == 0 {
		t.Fatal("no traces", err)
	}
	compared, checked := 0, 0
	for _, file := range files {
		tr, err := trace.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(file)
		checked += follow(t, name, tr)
		compared += compare(t, name, tr)
	}
	if compared < 4000 || checked < 250 {
		t.Errorf("only %d answers were compared, and %d events checked", compared, checked)
	}
}

// TestSimulatedPrograms compares the state with the simulated machine, which also executes its
// programs without this package.
func TestSimulatedPrograms(t *testing.T) {
	everything := func(name string, wait func(*simprog.Thread, *simprog.Cond, *simprog.Mutex)) simprog.Program {
		return simprog.Program{Name: name, Main: func(t *simprog.Thread) {
			m, c, sem, bar := t.Mutex(), t.Cond(), t.Sem(1), t.Barrier(3)
			work := func(t *simprog.Thread) {
				t.Lock(m)
				wait(t, c, m)
				t.Unlock(m)
				t.Down(sem)
				if t.TryLock(m) {
					t.Signal(c)
					t.Unlock(m)
				}
				t.Up(sem)
				t.Arrive(bar)
				t.Lock(m)
				t.Broadcast(c)
				t.Unlock(m)
			}
			a, b := t.Go(work), t.Go(work)
			t.Arrive(bar)
			t.Join(a)
			t.Join(b)
		}}
	}
	const timed = "timed"
	compared, checked := 0, 0
	for _, p := range []simprog.Program{
		everything("untimed", func(t *simprog.Thread, c *simprog.Cond, m *simprog.Mutex) { t.Wait(c, m) }),
		everything(timed, func(t *simprog.Thread, c *simprog.Cond, m *simprog.Mutex) { t.TimedWait(c, m) }),
		simprog.LockedUpdate(4), simprog.ABBA(), simprog.LostWakeup(), simprog.Polite(),
	} {
		target := simprog.New(p)
		for seed := range uint64(60) {
			o, err := target.Run(t.Context(), schedule.Plan{Seed: seed, Policy: schedule.Random, Timeouts: seed%2 == 0, Record: true})
			if err != nil {
				t.Fatal(err)
			}
			// The machine's programs initialise their barriers without an event.
			if i := slices.IndexFunc(o.Trace.Events, func(e trace.Event) bool { return e.Op == trace.OpBarrierWait }); i >= 0 {
				o.Trace.Events = slices.Insert(o.Trace.Events, 0, trace.Event{Op: trace.OpBarrierInit, Object: o.Trace.Events[i].Object, Value: 3, Flags: trace.FlagNoDecision})
			}
			checked += follow(t, p.Name, o.Trace)
			if p.Name != timed { // the machine has the time, which may end a wait
				compared += compare(t, p.Name, o.Trace)
			}
			if t.Failed() {
				return
			}
		}
	}
	if compared < 10000 || checked < 1500 {
		t.Errorf("only %d answers were compared, and %d events checked", compared, checked)
	}
}

// TestRandomPrograms compares the state with a machine that executes random programs and does not
// use this package.
func TestRandomPrograms(t *testing.T) {
	checked := 0
	seen := map[trace.Op]bool{}
	for seed := range uint64(400) {
		run := tracegen.Random(seed, tracegen.Shape{Threads: 2 + int(seed%5), Length: 60, Stay: int(seed % 3 * 30)})
		name := "seed " + strconv.FormatUint(seed, 10)
		checked += follow(t, name, run.Trace)
		for i, got := range ops.Enabled(run.Trace) {
			e := &run.Trace.Events[i]
			seen[e.Op] = true
			if e.Flags&trace.FlagNoDecision == 0 && !got.Equal(e.Enabled) {
				t.Errorf("%s: event %d (T%d %v): enabled are %v, the machine says %v", name, i, e.Thread, e.Op, got, e.Enabled)
			}
		}
		if t.Failed() {
			return
		}
	}
	if checked < 5000 || len(seen) < 50 {
		t.Errorf("only %d events were checked, of %d operations", checked, len(seen))
	}
}
