package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/heddle-dev/heddle/internal/testing/reporttest"
	"github.com/heddle-dev/heddle/trace"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// print is a view as text, all of it that a reader would see.
func print(v *View) string {
	var b strings.Builder
	place := func(n int) string { return strings.TrimSpace(v.Places[n].Label + "  " + v.Places[n].Text) }
	var rows func(rows []Row, indent string)
	rows = func(list []Row, indent string) {
		for _, r := range list {
			switch r.Kind {
			case EventRow:
				mark := " "
				if r.Cell.Failed {
					mark = "!"
				}
				fmt.Fprintf(&b, "%s%3d%s T%d %-36s | %s\n", indent, r.Event, mark, r.Thread, r.Cell.Text, place(r.Cell.Place))
			case SwitchRow:
				fmt.Fprintf(&b, "%s---- T%d -> T%d %s: %s | %s\n", indent, r.Switch.From, r.Switch.To, r.Switch.Reason, r.Switch.Text, place(r.Switch.Next))
			case LoopRow:
				fmt.Fprintf(&b, "%s%3d  %d times\n", indent, r.Event, r.Times)
				rows(r.Body, indent+"    ")
			case FoldRow:
				fmt.Fprintf(&b, "%s%3d  T%d … %d events\n", indent, r.Event, r.Thread, r.Events)
			}
		}
	}
	fmt.Fprintf(&b, "cost %+v, %d events\n", v.Cost, v.Events)
	for _, c := range v.Columns {
		if c.Path != "" {
			fmt.Fprintf(&b, "%s: ", c.Path)
		}
		fmt.Fprintf(&b, "T%d %s (%s): %d events, %d shown, ended %v\n", c.Thread, c.Name, v.Places[c.Entry].Label, c.Events, c.Shown, c.Ended)
	}
	rows(v.Rows, "")
	fmt.Fprintf(&b, "%s\n", v.Ending)
	if f := v.Failure; f != nil {
		fmt.Fprintf(&b, "%s of T%d at %s\n", f.Kind, f.Thread, place(f.Place))
		for _, p := range f.Stack {
			fmt.Fprintf(&b, "  in %s %s\n", v.Places[p].Func, place(p))
		}
		for i, w := range f.Waits {
			fmt.Fprintf(&b, "  %d of %d: %s | %s\n", i+1, f.Ring, w.Text, place(w.Place))
			if w.Created != 0 {
				fmt.Fprintf(&b, "    started by T%d at %s\n", w.Creator, place(w.Created))
			}
		}
		for _, s := range f.Sides {
			fmt.Fprintf(&b, "  event %d, %s | %s\n", s.Event, s.Text, place(s.Place))
		}
	}
	for _, k := range v.Blocks {
		fmt.Fprintf(&b, "%s: %s\n", k.Name, k.Detail)
	}
	for _, n := range v.Notes {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	return b.String()
}

func TestViews(t *testing.T) {
	const golden = "testdata/views.txtar"
	var got txtar.Archive
	for _, name := range reporttest.Fixtures() {
		tr, names := reporttest.Load(t, name)
		got.Files = append(got.Files, txtar.File{Name: name, Data: []byte(print(Build(tr, names, Options{})))})
	}
	if *update {
		if err := os.WriteFile(golden, txtar.Format(&got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := txtar.ParseFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if len(want.Files) != len(got.Files) {
		t.Fatalf("%d views, want %d; run with -update", len(got.Files), len(want.Files))
	}
	for i, w := range want.Files {
		if g := got.Files[i]; g.Name != w.Name || !bytes.Equal(g.Data, w.Data) {
			t.Errorf("%s:\n%s\nwant\n%s", w.Name, g.Data, w.Data)
		}
	}
}

// leaves are the numbers of events that rows represent, in order.
func leaves(t *testing.T, rows []Row) (out []int) {
	t.Helper()
	for _, r := range rows {
		switch r.Kind {
		case EventRow:
			out = append(out, r.Event)
			if r.Events != 1 {
				t.Errorf("row of event %d represents %d", r.Event, r.Events)
			}
		case SwitchRow:
		default:
			in := leaves(t, r.Rows)
			if len(in) != r.Events || in[0] != r.Event {
				t.Errorf("%s at event %d says %d events and holds %v", r.Kind, r.Event, r.Events, in)
			}
			out = append(out, in...)
		}
	}
	return out
}

// turnEvents counts the events of one turn.
func turnEvents(rows []Row) (n int) {
	for _, r := range rows {
		n += r.Events
	}
	return n
}

func checkLoops(t *testing.T, tr *trace.Trace, rows []Row) {
	t.Helper()
	for _, r := range rows {
		if r.Kind == FoldRow {
			checkLoops(t, tr, r.Rows)
		}
		if r.Kind != LoopRow {
			continue
		}
		period := turnEvents(r.Body)
		if r.Times < minTurns || period*r.Times != r.Events {
			t.Errorf("loop at event %d: %d turns of %d are not %d events", r.Event, r.Times, period, r.Events)
		}
		if slices.Contains(hiddenEvents(tr, racing(tr))[r.Event:r.Event+r.Events], true) {
			continue // it is longer than its rows
		}
		for i := r.Event; i < r.Event+r.Events-period; i++ {
			a, b := tr.Events[i], tr.Events[i+period]
			if a.Thread != b.Thread || a.Op != b.Op || a.Site != b.Site {
				t.Errorf("loop at event %d: events %d and %d differ", r.Event, i, i+period)
			}
		}
		checkLoops(t, tr, r.Body)
	}
}

// checkView checks what holds for every view.
func checkView(t *testing.T, tr *trace.Trace, v *View) {
	t.Helper()
	i := 0
	noRow := hiddenEvents(tr, racing(tr))
	skip := func() {
		for i < len(tr.Events) && noRow[i] {
			i++
		}
	}
	for _, n := range leaves(t, v.Rows) {
		if skip(); i != n {
			t.Fatalf("event %d is missing or out of order", i)
		}
		i++
	}
	if skip(); i != len(tr.Events) {
		t.Fatalf("event %d is missing", i)
	}
	if n := turnEvents(v.Rows) + v.Hidden; n != len(tr.Events) {
		t.Errorf("the rows represent %d of %d events", n, len(tr.Events))
	}
	checkLoops(t, tr, v.Rows)
	switches, preemptions := 0, 0
	for i, r := range v.Full() {
		if r.Kind == FoldRow || r.Kind == LoopRow {
			t.Errorf("row %d of the full view is folded", i)
		}
		if r.Kind == SwitchRow {
			switches++
			if r.Switch.Preemptive {
				preemptions++
			}
			if r.Switch.From == r.Switch.To || tr.Events[r.Event].Thread != r.Switch.To {
				t.Errorf("switch before event %d: %+v", r.Event, r.Switch)
			}
		}
	}
	if c := trace.CostOf(tr.Events); switches != c.Switches || preemptions != c.Preemptions {
		t.Errorf("the rows tell %d switches, %d preemptions; the trace has %+v", switches, preemptions, c)
	}
	shown := 0
	for _, c := range v.Columns {
		shown += c.Shown
	}
	if shown == 0 && len(tr.Events) > 0 {
		t.Error("nothing is shown")
	}
	if (v.Failure != nil) != (tr.Ending.Kind.Failed() || tr.Ending.Kind == trace.Unfinished) || v.Ending == "" {
		t.Errorf("ending %q, failure %v of a trace that ended as %s", v.Ending, v.Failure, tr.Ending.Kind)
	}
}

func TestEveryEventHasItsPlace(t *testing.T) {
	for _, name := range reporttest.Fixtures() {
		tr, names := reporttest.Load(t, name)
		checkView(t, tr, Build(tr, names, Options{}))
	}
	for seed := range uint64(150) {
		tr, names := reporttest.Random(t, seed, 1+int(seed%6), 20+int(seed*3))
		v := Build(tr, names, Options{})
		checkView(t, tr, v)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func TestSameTraceSameView(t *testing.T) {
	for seed := range uint64(20) {
		tr, names := reporttest.Random(t, seed, 5, 300)
		a, err := json.Marshal(Build(tr, names, Options{}))
		if err != nil {
			t.Fatal(err)
		}
		b, _ := json.Marshal(Build(tr, names, Options{}))
		if !bytes.Equal(a, b) {
			t.Fatalf("seed %d: two views of one trace differ", seed)
		}
		var back View
		if err := json.Unmarshal(a, &back); err != nil {
			t.Fatal(err)
		}
		if c, _ := json.Marshal(&back); !bytes.Equal(a, c) {
			t.Fatalf("seed %d: a view does not survive JSON", seed)
		}
	}
}

// TestSharedAgainstPairs compares with the definition: an event is shared if an event of
// another thread touches one of its bytes, and one of the two does more than read.
func TestSharedAgainstPairs(t *testing.T) {
	for seed := range uint64(40) {
		tr, names := reporttest.Random(t, seed, 3, 120)
		tr.Ending.Waiters, tr.Ending.Object = nil, 0
		got := sharedEvents(tr, names)
		x := newTouches(names, tr.Allocs)
		type touch struct {
			event int
			k     extent
			write bool
		}
		var all []touch
		for i := range tr.Events {
			x.each(i, &tr.Events[i], func(k extent, write bool) { all = append(all, touch{i, k, write}) })
		}
		want := make([]bool, len(tr.Events))
		for _, a := range all {
			for _, b := range all {
				overlap := a.k.block == b.k.block && uint64(a.k.o) < uint64(b.k.o)+b.k.size && uint64(b.k.o) < uint64(a.k.o)+a.k.size
				if overlap && (a.write || b.write) && tr.Events[a.event].Thread != tr.Events[b.event].Thread {
					want[a.event] = true
				}
			}
		}
		for i := range want {
			switch tr.Events[i].Op {
			case trace.OpThreadCreate, trace.OpThreadJoin, trace.OpThreadDetach, trace.OpProcessExit, trace.OpAbort, trace.OpSignal, trace.OpSignalSend:
				want[i] = true
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: got %v, want %v", seed, got, want)
		}
	}
}

// TestLoopFinder checks foldings that are easy to see.
func TestLoopFinder(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"abc", "abc"},
		{"aa", "aa"},
		{"aaa", "3(a)"},
		{"xababab", "x3(ab)"},
		{"abababx", "3(ab)x"},
		{"ababab" + "ab", "4(ab)"},
		{"abbbabbbabbb", "3(a3(b))"},
		{"abbabbabbabb", "4(abb)"},
		{"aaaabbbb", "4(a)4(b)"},
		{"abcabcabd", "abcabcabd"},
		{"aabaabaab", "3(aab)"},
	} {
		f := loopFinder{steps: make([]uint32, len(c.in)), switches: make([]uint8, len(c.in))}
		for i := range c.in {
			f.steps[i] = uint32(c.in[i])
		}
		var print func(segments []segment) string
		print = func(segments []segment) (s string) {
			for _, g := range segments {
				if g.period == 0 {
					s += c.in[g.start:g.end]
				} else {
					s += fmt.Sprintf("%d(%s)", g.times, print(g.body))
				}
			}
			return s
		}
		if got := print(f.find(0, len(c.in))); got != c.want {
			t.Errorf("%s: got %s, want %s", c.in, got, c.want)
		}
	}
	// What leads into the first turn may differ, what leads from turn to turn may not.
	f := loopFinder{steps: make([]uint32, 8), switches: []uint8{1, 0, 0, 0, 2, 0, 0, 0}}
	if got := f.find(0, 8); len(got) != 2 || got[0].times != 4 || got[1].times != 4 {
		t.Errorf("a switch inside of a loop: %+v", got)
	}
}

func BenchmarkBuild(b *testing.B) {
	tr, names := reporttest.Random(b, 1, 8, 100_000)
	b.ReportAllocs()
	for b.Loop() {
		Build(tr, names, Options{})
	}
}

// Hides finds the events that no row represents.
func TestHides(t *testing.T) {
	for _, name := range reporttest.Fixtures() {
		tr, names := reporttest.Load(t, name)
		hidden := hiddenEvents(tr, racing(tr))
		want, n := slices.Index(hidden, true), 0
		for _, h := range hidden {
			if h {
				n++
			}
		}
		if first, got := Build(tr, names, Options{}).Hides(); first != want || got != n {
			t.Errorf("%s hides %d events from %d on, want %d from %d on", name, got, first, n, want)
		}
	}
}
