package bintrcred

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/analysis/depend"
	"github.com/heddle-dev/heddle/internal/simplify/proof"
	"github.com/heddle-dev/heddle/internal/simplify/static"
	"github.com/heddle-dev/heddle/internal/simplify/stmt"
	"github.com/heddle-dev/heddle/internal/testing/figure5"
	"github.com/heddle-dev/heddle/internal/testing/ordertest"
	"github.com/heddle-dev/heddle/internal/testing/tracegen"
)

// TestTenThousand: on 10,000 random traces of all operations, the result is a permutation
// that keeps program order and every dependence, has no more switches than the trace and
// than SimTrace's, reaches the same state by both semantics, is the same execution when
// it is executed, and its derivation checks after having been written and read.
func TestTenThousand(t *testing.T) {
	traces := uint64(10000)
	if testing.Short() {
		traces = 1000
	}
	var before, after, sim, bf, steps int
	shapes := map[stmt.Shape]int{}
	rules := map[stmt.Rule]int{}
	for seed := range traces {
		run := tracegen.Random(seed, tracegen.Shape{Threads: 1 + int(seed%6), Length: 3 + int(seed%29), Stay: int(seed % 8 * 12), Big: seed%17 == 0})
		tr := stmt.FromTrace(run.Trace)
		res, err := Run(t.Context(), tr)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		g := stmt.Graph(tr)
		if err := ordertest.Check(g, g.Thread, res.Order); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if n := static.Switches(g, res.Order); n != res.After || n > res.Before {
			t.Fatalf("seed %d: %d switches, said to be %d of %d", seed, n, res.After, res.Before)
		}
		s := static.Switches(g, static.SimTrace(g))
		if res.After > s {
			t.Fatalf("seed %d: %d switches, SimTrace makes %d", seed, res.After, s)
		}
		if d := tr.Diff(figure5.Run(tr, tr.Recorded()), figure5.Run(tr, res.Order)); d != "" {
			t.Fatalf("seed %d, as printed: %s", seed, d)
		}
		if _, err := run.Replay(res.Order); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		d := reread(t, res.Derivation)
		if _, err := proof.Check(tr, d); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, r := range d.Rounds {
			shapes[r.Shape]++
			for _, s := range r.Steps {
				rules[s.Rule]++
			}
		}
		before, after, sim, bf, steps = before+res.Before, after+res.After, sim+s, bf+static.Switches(g, static.BackwardForward(g)), steps+d.Steps()
	}
	t.Logf("%d switches became %d in %d steps; SimTrace %d, backward-forward %d; rounds %v, rules %v", before, after, steps, sim, bf, shapes, rules)
	for s := stmt.Binary; s <= stmt.Straight; s++ {
		if shapes[s] == 0 {
			t.Errorf("no round is %s: it is not tested", s)
		}
	}
	for r := stmt.Base2; r <= stmt.Line; r++ {
		if rules[r] == 0 {
			t.Errorf("no step is %s: it is not tested", r)
		}
	}
}

// TestLine derives random orders, which the rules would not come to.
func TestLine(t *testing.T) {
	derived := 0
	for seed := range uint64(500) {
		run := tracegen.Random(seed, tracegen.Shape{Threads: 2 + int(seed%4), Length: 3 + int(seed%12)})
		tr := stmt.FromTrace(run.Trace)
		g := stmt.Graph(tr)
		quads := Connect(tr)
		r := newReducer(tr, g, quads)
		// From the other end, so that it is an order with no more switches.
		to := static.NewMerger(g).Backward(static.SimTrace(g))
		r.line(tr.Recorded(), to)
		d := &stmt.Derivation{Units: tr.Len(), Statements: len(tr.Stmts), Trace: tr.Digest(), Segments: segments(quads),
			Rounds: r.rounds, Before: tr.Switches(tr.Recorded()), After: tr.Switches(to), Result: stmt.OrderDigest(to)}
		d.Seal = d.Sealed()
		if d.Steps() > 0 {
			derived++
		}
		if _, err := proof.Check(tr, d); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	if derived < 300 {
		t.Errorf("%d orders needed steps", derived)
	}
}

// TestDerive derives the orders that Merge and SimTrace find in the dependence graph of the events: the
// checker accepts the derivation, and comes to that order.
func TestDerive(t *testing.T) {
	traces := uint64(3000)
	if testing.Short() {
		traces = 300
	}
	steps := 0
	for seed := range traces {
		run := tracegen.Random(seed, tracegen.Shape{Threads: 1 + int(seed%6), Length: 3 + int(seed%29), Stay: int(seed % 8 * 12), Big: seed%17 == 0})
		tr := stmt.FromTrace(run.Trace)
		g := depend.Build(run.Trace)
		merged, err := static.Merged(t.Context(), run.Trace, g)
		if err != nil {
			t.Fatal(err)
		}
		for name, order := range map[string][]int32{"merge": merged.Order, "SimTrace": static.SimTrace(g)} {
			d, err := Derive(t.Context(), tr, order)
			if err != nil {
				t.Fatalf("seed %d, %s: %v", seed, name, err)
			}
			got, err := proof.Check(tr, reread(t, d))
			if err != nil {
				t.Fatalf("seed %d, %s: %v", seed, name, err)
			}
			if !slices.Equal(got, order) || d.After > d.Before {
				t.Fatalf("seed %d, %s: the derivation comes to %v with %d switches of %d, not to %v", seed, name, got, d.After, d.Before, order)
			}
			steps += d.Steps()
		}
	}
	if steps == 0 {
		t.Error("no order needed steps")
	}
}

// reread writes and reads a derivation.
func reread(t *testing.T, d *stmt.Derivation) *stmt.Derivation {
	t.Helper()
	var text bytes.Buffer
	if err := d.Write(&text); err != nil {
		t.Fatal(err)
	}
	d, err := stmt.ReadDerivation(&text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestDeriveFromTheStart: a derivation whose first unit is another one can be read.
func TestDeriveFromTheStart(t *testing.T) {
	tr, err := stmt.Parse(strings.NewReader("A: localize(x, g)\nB: localize(y, h)\nA: Share(z, h)\n"))
	if err != nil {
		t.Fatal(err)
	}
	order := []int32{1, 0, 2}
	d, err := Derive(t.Context(), tr, order)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := proof.Check(tr, reread(t, d)); err != nil || !slices.Equal(got, order) {
		t.Errorf("%v, %v", got, err)
	}
}

// TestDeriveNotExecution: a trace that cannot be executed has no derivation.
func TestDeriveNotExecution(t *testing.T) {
	tr, err := stmt.Parse(strings.NewReader("A: Release(m)\nB: localize(y, g)\n"))
	if err != nil {
		t.Fatal(err)
	}
	var not *NotExecutionError
	if _, err := Derive(t.Context(), tr, tr.Recorded()); !errors.As(err, &not) {
		t.Errorf("derived: %v", err)
	}
	if _, err := Run(t.Context(), tr); !errors.As(err, &not) {
		t.Errorf("reduced: %v", err)
	}
}

// TestTampered changes every step of derivations in every way it can be changed by a
// little, leaves steps out and does them twice. All must be rejected. Where the forger
// puts a new seal under it, all must be rejected but for the few that still derive the
// same order, by a detour more or less: what those say is true.
func TestTampered(t *testing.T) {
	tried, same := 0, 0
	for seed := range uint64(120) {
		run := tracegen.Random(seed, tracegen.Shape{Threads: 2 + int(seed%4), Length: 3 + int(seed%8)})
		tr := stmt.FromTrace(run.Trace)
		res, err := Run(t.Context(), tr)
		if err != nil {
			t.Fatal(err)
		}
		good := res.Derivation
		reject := func(what string, d *stmt.Derivation) {
			t.Helper()
			tried++
			if _, err := proof.Check(tr, d); err == nil {
				t.Fatalf("seed %d: %s was not noticed", seed, what)
			}
			d.Seal = d.Sealed()
			order, err := proof.Check(tr, d)
			if err != nil {
				return
			}
			if !slices.Equal(order, res.Order) || !mayDetour[what] {
				t.Fatalf("seed %d: %s was not noticed once it was sealed", seed, what)
			}
			same++
		}
		clone := func() *stmt.Derivation {
			d := *good
			d.Segments = append([]int32(nil), good.Segments...)
			d.Rounds = nil
			for _, r := range good.Rounds {
				r.Steps = append([]stmt.Step(nil), r.Steps...)
				d.Rounds = append(d.Rounds, r)
			}
			return &d
		}
		for i := range good.Rounds {
			for j := range good.Rounds[i].Steps {
				changes := []func(*stmt.Step){
					func(s *stmt.Step) { s.Unit++ }, func(s *stmt.Step) { s.Unit-- }, func(s *stmt.Step) { s.Unit = 1 << 30 }, func(s *stmt.Step) { s.Unit = -1 },
					func(s *stmt.Step) { s.Count++ }, func(s *stmt.Step) { s.Count-- }, func(s *stmt.Step) { s.Count = 0 },
					func(s *stmt.Step) { s.Rule = (s.Rule + 1) % 3 }, func(s *stmt.Step) { s.Rule = (s.Rule + 2) % 3 },
					func(s *stmt.Step) { s.Lo = s.Hi }, func(s *stmt.Step) { s.Hi = 1 << 30 }, func(s *stmt.Step) { s.Lo = -1 },
				}
				if good.Rounds[i].Steps[j].Rule != stmt.Line {
					changes = append(changes, func(s *stmt.Step) { s.Down = !s.Down })
				}
				for _, change := range changes {
					d := clone()
					change(&d.Rounds[i].Steps[j])
					reject("a changed step", d)
				}
				d := clone()
				d.Rounds[i].Steps = append(d.Rounds[i].Steps[:j:j], d.Rounds[i].Steps[j+1:]...)
				reject("a step left out", d)
				d = clone()
				d.Rounds[i].Steps = append(d.Rounds[i].Steps[:j+1:j+1], d.Rounds[i].Steps[j:]...)
				reject("a step done twice", d)
			}
			d := clone()
			d.Rounds = append(d.Rounds[:i:i], d.Rounds[i+1:]...)
			reject("a round left out", d)
			d = clone()
			d.Rounds[i].Shape = (d.Rounds[i].Shape + 1) % 4
			reject("another shape", d)
		}
		for i := range good.Segments {
			d := clone()
			d.Segments[i]++
			reject("a changed segment", d)
			d = clone()
			d.Segments = append(d.Segments[:i:i], d.Segments[i+1:]...)
			reject("a segment left out", d)
		}
		for _, change := range []func(*stmt.Derivation){
			func(d *stmt.Derivation) { d.Before++ }, func(d *stmt.Derivation) { d.After-- }, func(d *stmt.Derivation) { d.Result[3]++ },
			func(d *stmt.Derivation) { d.Trace[3]++ }, func(d *stmt.Derivation) { d.Units++ }, func(d *stmt.Derivation) { d.Statements-- },
			func(d *stmt.Derivation) { d.Segments = append(d.Segments, int32(d.Units)) },
		} {
			d := clone()
			change(d)
			reject("a changed header or result", d)
		}
	}
	t.Logf("%d changes, %d of them detours", tried, same)
	if tried < 10000 || same*50 > tried {
		t.Errorf("%d changes were tried, and %d still led to the same order", tried, same)
	}
}

// mayDetour are the changes that can be a detour to the same order, or the lack of one.
var mayDetour = map[string]bool{"a changed step": true, "a step left out": true, "a round left out": true, "another shape": true}

// TestForged is a derivation whose every number has been made to fit, but whose one step
// breaks a dependence.
func TestForged(t *testing.T) {
	tr, err := stmt.Parse(strings.NewReader("A: Share(x, g)\nB: localize(y, g)\nA: Share(z, g)\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, to := range [][]int32{{0, 2, 1}, {1, 0, 2}} {
		d := &stmt.Derivation{Units: 3, Statements: 3, Trace: tr.Digest(), Segments: segments(Connect(tr)), Before: 2, After: 1, Result: stmt.OrderDigest(to)}
		for _, s := range []stmt.Step{
			{Rule: stmt.Split, Lo: 0, Hi: 3, Unit: 2, Count: 1},
			{Rule: stmt.Split, Lo: 0, Hi: 3, Unit: 0, Count: 1, Down: true},
		} {
			for _, shape := range []stmt.Shape{stmt.Binary, stmt.Forward, stmt.Backward} {
				d.Rounds = []stmt.Round{{Shape: shape, Steps: []stmt.Step{s}}}
				d.Seal = d.Sealed()
				if _, err := proof.Check(tr, d); err == nil || !strings.Contains(err.Error(), "connected") && !strings.Contains(err.Error(), "reduced before") {
					t.Errorf("%+v: %v", d.Rounds, err)
				}
			}
		}
		d.Rounds = []stmt.Round{{Shape: stmt.Straight, Steps: []stmt.Step{{Rule: stmt.Line, Lo: 0, Hi: 3, Unit: 2, Count: 1, After: 0}}}}
		d.Seal = d.Sealed()
		if _, err := proof.Check(tr, d); err == nil || !strings.Contains(err.Error(), "connected") {
			t.Errorf("%+v: %v", d.Rounds, err)
		}
	}
}

// TestConnect compares the annotations with Definition 3 by looking at all pairs.
func TestConnect(t *testing.T) {
	for seed := range uint64(200) {
		tr := stmt.FromTrace(tracegen.Random(seed, tracegen.Shape{Threads: 2 + int(seed%3), Length: 8}).Trace)
		quads := Connect(tr)
		if len(quads) != tr.Len()+1 || quads[0] != (Quad{}) {
			t.Fatal("the join-point before the first unit")
		}
		for u := 1; u <= tr.Len(); u++ {
			first := u
			for first > 1 && connect(tr, int32(first-2), int32(first-1)) {
				first--
			}
			if want := (Quad{int32(first), int32(u), tr.Of[first-1] + 1, tr.Of[u-1] + 1}); quads[u] != want {
				t.Fatalf("seed %d: join-point %d: %v, want %v", seed, u, quads[u], want)
			}
		}
	}
}

func FuzzCheck(f *testing.F) {
	f.Add(uint64(3), []byte("heddle derivation 1\n"))
	for seed := range uint64(5) {
		tr := stmt.FromTrace(tracegen.Random(seed, tracegen.Shape{Threads: 3, Length: 6}).Trace)
		res, err := Run(context.Background(), tr)
		if err != nil {
			f.Fatal(err)
		}
		var text bytes.Buffer
		if err := res.Derivation.Write(&text); err != nil {
			f.Fatal(err)
		}
		f.Add(seed, text.Bytes())
	}
	f.Fuzz(func(t *testing.T, seed uint64, text []byte) {
		d, err := stmt.ReadDerivation(bytes.NewReader(text))
		if err != nil {
			return
		}
		tr := stmt.FromTrace(tracegen.Random(seed%100, tracegen.Shape{Threads: 3, Length: 6}).Trace)
		d.Trace, d.Seal = tr.Digest(), d.Sealed() // the interesting part is behind these
		d.Units, d.Statements = tr.Len(), len(tr.Stmts)
		order, err := proof.Check(tr, d)
		if err != nil {
			return
		}
		if err := ordertest.Check(stmt.Graph(tr), stmt.Graph(tr).Thread, order); err != nil {
			t.Fatalf("a false derivation was taken: %v", err)
		}
	})
}

// TestRunStops: a reduction ends with its context's error once the context has ended.
func TestRunStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	tr := stmt.FromTrace(tracegen.Random(1, tracegen.Shape{Threads: 3, Length: 6}).Trace)
	if _, err := Run(ctx, tr); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
