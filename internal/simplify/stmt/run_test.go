package stmt_test

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/analysis/depend"
	"github.com/heddle-dev/heddle/internal/simplify/stmt"
	"github.com/heddle-dev/heddle/internal/testing/figure5"
	"github.com/heddle-dev/heddle/internal/testing/ordertest"
	"github.com/heddle-dev/heddle/internal/testing/tracegen"
)

func shape(seed uint64) tracegen.Shape {
	return tracegen.Shape{Threads: 1 + int(seed%5), Length: 4 + int(seed%17), Stay: int(seed % 7 * 15), Big: seed%11 == 0}
}

// shuffled is a random order that keeps program order and, if it has one, the graph.
func shuffled(r *rand.Rand, t *stmt.Trace, g *depend.Graph) []int32 {
	done := make([]bool, t.Len())
	queues := make([][]int32, len(t.Threads))
	for u, th := range t.Of {
		queues[th] = append(queues[th], int32(u))
	}
	var order []int32
	for len(order) < t.Len() {
		th := r.IntN(len(queues))
		if len(queues[th]) == 0 {
			continue
		}
		u := queues[th][0]
		ok := true
		if g != nil {
			for _, p := range g.Preds(u) {
				ok = ok && done[p]
			}
		}
		if ok {
			done[u] = true
			order = append(order, u)
			queues[th] = queues[th][1:]
		}
	}
	return order
}

// closure is which unit has to come before which.
func closure(g *depend.Graph) [][]int32 {
	c := g.Clocks()
	var out [][]int32
	for n := range int32(g.Len()) {
		out = append(out, append([]int32(nil), c.Before(n)...))
	}
	return out
}

// TestRecorded: the statements of a recorded trace depend on each other as its events do,
// can be executed, and reach the same state in every order that keeps the dependences,
// by heddle's meaning and by Figure 5 as printed.
func TestRecorded(t *testing.T) {
	for seed := range uint64(2000) {
		run := tracegen.Random(seed, shape(seed))
		tr := stmt.FromTrace(run.Trace)
		g, events := stmt.Graph(tr), depend.Build(run.Trace)
		if g.Len() != events.Len() {
			t.Fatalf("seed %d: %d units for %d nodes", seed, g.Len(), events.Len())
		}
		if a, b := closure(g), closure(events); !reflect.DeepEqual(a, b) {
			for i := range a {
				if !reflect.DeepEqual(a[i], b[i]) {
					from, _ := events.EventsOf(int32(i))
					t.Fatalf("seed %d: before unit %d (%s; %s) come %v, of events %v", seed, i, tr.FormatUnit(int32(i)), run.Trace.Events[from].Op, a[i], b[i])
				}
			}
		}
		before, err := stmt.Run(tr, tr.Recorded())
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		printed := figure5.Run(tr, tr.Recorded())
		r := rand.New(rand.NewPCG(seed, 3))
		for range 2 {
			order := shuffled(r, tr, g)
			after, err := stmt.Run(tr, order)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if d := tr.Diff(before, after); d != "" {
				t.Fatalf("seed %d: %s", seed, d)
			}
			if d := tr.Diff(printed, figure5.Run(tr, order)); d != "" {
				t.Fatalf("seed %d, as printed: %s", seed, d)
			}
		}
	}
}

// TestRunNotices: an order that breaks a dependence is stuck or reaches another state.
func TestRunNotices(t *testing.T) {
	broken, noticed := 0, 0
	for seed := range uint64(600) {
		run := tracegen.Random(seed, shape(seed))
		tr := stmt.FromTrace(run.Trace)
		g := stmt.Graph(tr)
		before, err := stmt.Run(tr, tr.Recorded())
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(seed, 3))
		for range 3 {
			order := shuffled(r, tr, nil)
			if ordertest.Check(g, g.Thread, order) == nil {
				continue
			}
			broken++
			after, err := stmt.Run(tr, order)
			if err != nil || tr.Diff(before, after) != "" {
				noticed++
			}
		}
	}
	// What it cannot notice: two writes without a read in between, followed by a third.
	if broken < 1000 || noticed*100 < broken*97 {
		t.Errorf("of %d broken orders %d were noticed", broken, noticed)
	}
	t.Logf("of %d broken orders %d were noticed", broken, noticed)
}

// TestSmallestRuns has one trace for each thing that Run refuses.
func TestSmallestRuns(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"A: Require(m)\nA: Release(m)\nB: Require(m)", ""},
		{"A: Require(m)\nB: Require(m)", "held by A"},
		{"A: Require(m)\nA: Require(m)\nA: Release(m)\nB: Require(m)", "held by A"},
		{"A: Release(m)", "no thread holds"},
		{"A: Set1(g)\nB: Set0(g)", ""},
		{"B: Set0(g)\nA: Set1(g)", "Set0 stands where"},
		{"A: Set1(g)\nB: Set0(g)\nB: Set0(g)", "Set0 stands where"},
		{"let g = 1\nB: Set0(g)", ""},
		{"A: Duplicate(B)\nB: Ready\nB: End\nA: Initiate(B)", ""},
		{"B: Ready\nA: Duplicate(B)", "not been started"},
		{"A: Duplicate(B)\nA: Duplicate(B)", "started before"},
		{"A: Initiate(B)\nB: End", "statements left"},
		{"A: Require\nB: Release\nB: Require", ""},
	} {
		tr, err := stmt.Parse(strings.NewReader(c.text))
		if err != nil {
			t.Fatalf("%q: %v", c.text, err)
		}
		_, err = stmt.Run(tr, tr.Recorded())
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%q: %v", c.text, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"hello", "line 1"},
		{"A: Ready\n\n# fine\nA: Jump(x)", `line 4: "A: Jump(x)": unknown statement "Jump"`},
		{"A: Share(x)", "Share has 2 arguments, not 1"},
		{"A: Share(x, y, z)", "Share has 2 arguments, not 3"},
		{"A: Share(x,)", `"" is not the name`},
		{"A: Ready(x)", "Ready has 0 arguments, not 1"},
		{"A: Duplicate", "must say which thread"},
		{"A: Duplicate(A)", "cannot do that to itself"},
		{"A: Set1", "Set1 has 1 arguments, not 0"},
		{"A: Share(x, g1..g2)", `"g1" was not named before`},
		{"let g2 = 1\nlet g1 = 1\nA: Share(x, g1..g2)", "range g1..g2 is empty"},
		{"let g = 99999999999999999999", "not a 64-bit number"},
		{"let g! = 1", "name of a variable"},
		{"A B: Ready", "a line is"},
		{"A: Ready)", "not a statement"},
		{"A:", `"" is not a statement`},
	} {
		_, err := stmt.Parse(strings.NewReader(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
}

// TestWrite: what is written is read back as the same.
func TestWrite(t *testing.T) {
	for seed := range uint64(200) {
		run := tracegen.Random(seed, shape(seed))
		tr := stmt.FromTrace(run.Trace)
		var text bytes.Buffer
		if err := tr.Write(&text, tr.Recorded()); err != nil {
			t.Fatal(err)
		}
		back, err := stmt.Parse(bytes.NewReader(text.Bytes()))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		var again bytes.Buffer
		if err := back.Write(&again, back.Recorded()); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(text.Bytes(), again.Bytes()) {
			t.Fatalf("seed %d: written, read and written again it is another text", seed)
		}
		if a, b := closure(stmt.Graph(tr)), closure(stmt.Graph(back)); len(tr.Threads) == len(back.Threads) && !reflect.DeepEqual(a, b) {
			t.Fatalf("seed %d: other dependences", seed)
		}
		if _, err := stmt.Run(back, back.Recorded()); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("T1: localize(x, g); Share(y, h)\nlet g = 5\nlet T1: x = 5\nT2: Require\nT1: Duplicate(T2)\nT2: skip")
	f.Fuzz(func(t *testing.T, text string) {
		tr, err := stmt.Parse(strings.NewReader(text))
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := tr.Write(&out, tr.Recorded()); err != nil {
			t.Fatal(err)
		}
		if _, err := stmt.Parse(bytes.NewReader(out.Bytes())); err != nil {
			t.Fatalf("%q was read, but not what was written of it, %q: %v", text, out.String(), err)
		}
		stmt.Graph(tr)
		stmt.Run(tr, tr.Recorded())
		figure5.Run(tr, tr.Recorded())
	})
}
