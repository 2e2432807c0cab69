package tinertia

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

// figure1 is the program of FSE'10 Figure 1, thread 1 being thread 0 here. A sleeping
// thread stays enabled, error() is an action, and a thread ends with its last statement.
func figure1() *program {
	const flag, x = 0, 1
	return &program{
		vars:  2,
		start: []int{0, 1},
		funcs: [][]instr{
			{
				{kind: kWrite, a: flag, b: 1},
				{kind: kWrite, a: x, b: 1},
				{kind: kIf, a: x, b: 3, to: 4},
				{kind: kFail},
			},
			{
				{kind: kIf, a: flag, b: 0, to: 3},
				{kind: kSleep},
				{kind: kGoto, to: 0},
				{kind: kWrite, a: x, b: 3},
				{kind: kWrite, a: flag, b: 0},
			},
		},
	}
}

var figure1Text = map[string]string{
	"0/write/0": "flag = 1", "0/write/1": "x = 1", "0/read/2": "if (x == 3)", "0/abort/3": "error()",
	"1/read/0": "while (! flag)", "1/sleep/1": "sleep()", "1/write/3": "x = 3", "1/write/4": "flag = 0",
}

// listing prints a trace as the figures do.
func listing(t *trace.Trace) string {
	var b strings.Builder
	for _, e := range t.Events {
		fmt.Fprintf(&b, "(T%d, %s)\n", e.Thread+1, figure1Text[fmt.Sprintf("%d/%s/%d", e.Thread, e.Op, e.Site.Offset()&0xfff)])
	}
	return b.String()
}

const (
	figure2 = `(T2, while (! flag))
(T2, sleep())
(T1, flag = 1)
(T2, while (! flag))
(T1, x = 1)
(T2, x = 3)
(T1, if (x == 3))
(T2, flag = 0)
(T1, error())
`
	figure3 = `(T2, while (! flag))
(T2, sleep())
(T1, flag = 1)
(T2, while (! flag))
(T1, x = 1)
(T2, x = 3)
(T1, if (x == 3))
(T1, error())
`
	figure4 = `(T2, while (! flag))
(T2, sleep())
(T1, flag = 1)
(T1, x = 1)
(T2, while (! flag))
(T2, x = 3)
(T1, if (x == 3))
(T1, error())
`
	figure5 = `(T1, flag = 1)
(T1, x = 1)
(T2, while (! flag))
(T2, x = 3)
(T1, if (x == 3))
(T1, error())
`
)

func simplifyFigure2(t *testing.T, p *program, opts Options) *Result {
	t.Helper()
	in := p.scripted(1, 1, 0, 1, 0, 1, 0, 1, 0)
	if got := listing(in); got != figure2 {
		t.Fatalf("the machine does not give Figure 2:\n%s", got)
	}
	opts.History = true
	r, err := Simplify(context.Background(), Input{in, sameBug(in.Ending)}, p.run, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestFigures checks the steps of Algorithm 1 through Figures 2 to 5, pass by pass.
func TestFigures(t *testing.T) {
	r := simplifyFigure2(t, figure1(), Options{Operations: Paper()})
	if got, want := r.Table1.Before, (Shape{Size: 9, Threads: 2, Switches: 7, NonPreemptive: 1, Preemptive: 6}); got != want {
		t.Errorf("Figure 2 has shape %+v, want %+v", got, want)
	}
	want := []struct {
		op       Operation
		listing  string
		switches int
	}{
		{RemoveLast, figure3, 5},
		{MoveUp, figure4, 3},
		{MoveDown, figure5, 2},
	}
	if len(r.Steps) != len(want) {
		t.Fatalf("%d candidates accepted, want %d: %+v", len(r.Steps), len(want), r.Steps)
	}
	for i, w := range want {
		s := r.Steps[i]
		if s.Operation != w.op || s.Cost.Switches != w.switches || s.Iteration != 1 {
			t.Errorf("step %d: %s to %d switches in iteration %d, want %s to %d in 1", i+1, s.Operation, s.Cost.Switches, s.Iteration, w.op, w.switches)
		}
		if got := listing(s.Trace); got != w.listing {
			t.Errorf("step %d gives\n%swant\n%s", i+1, got, w.listing)
		}
	}
	if listing(r.Trace) != figure5 || r.Table2.Iterations != 2 || r.Cut {
		t.Errorf("result after %d iterations, cut %v:\n%s", r.Table2.Iterations, r.Cut, listing(r.Trace))
	}
	if got, want := r.Table1.Reduction.Switches, 100*5.0/7; got != want {
		t.Errorf("reduction of switches %v, want %v", got, want)
	}
}

// TestFiguresBeyond checks that the operations beyond the paper run after it and improve its
// result: when flag = 0 is done, thread 2 has ended before thread 1 continues, which leaves one
// preemption of Figure 5's two.
func TestFiguresBeyond(t *testing.T) {
	r := simplifyFigure2(t, figure1(), Options{})
	if len(r.Steps) < 4 || listing(r.Steps[2].Trace) != figure5 {
		t.Fatalf("steps %+v", r.Steps)
	}
	if r.LastGain+r.Afterwards != r.Table2.Executions || r.LastGain == 0 || r.Afterwards == 0 {
		t.Errorf("%d executions until the result and %d afterwards are not all %d", r.LastGain, r.Afterwards, r.Table2.Executions)
	}
	if r.After.Switches != 2 || r.After.Preemptions != 1 {
		t.Errorf("after %+v, want 2 switches, 1 preemption:\n%s", r.After, listing(r.Trace))
	}
}

// TestFiguresPatient lets a thread off its script sleep and continue. Then the first merge that the
// paper calls invalid rejoins the script; the end is the same.
func TestFiguresPatient(t *testing.T) {
	p := figure1()
	p.patience = 3
	r := simplifyFigure2(t, p, Options{Operations: Paper()})
	if listing(r.Trace) != figure5 {
		t.Errorf("result\n%s", listing(r.Trace))
	}
}
