package tinertia

import (
	"context"
	"slices"
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

// Paper returns the operations of the published algorithm.
func Paper() []Operation { return slices.Clone(paper) }

func without(ops []Operation, op Operation) []Operation {
	return slices.DeleteFunc(slices.Clone(ops), func(o Operation) bool { return o == op })
}

// TestEveryOperationCounts has, for each operation, a program and an execution that becomes simpler
// with the operation than without.
func TestEveryOperationCounts(t *testing.T) {
	fail := instr{kind: kFail}
	set := func(v int) instr { return instr{kind: kWrite, a: v, b: 1} }
	// need continues if a variable is 1, and otherwise to the end of the function.
	need := func(v int) instr { return instr{kind: kIf, a: v, b: 1, to: 99} }
	noise := instr{kind: kWrite, a: 9, b: 1}
	post, wait := instr{kind: kSemPost}, instr{kind: kSemWait}

	for _, c := range []struct {
		op         Operation
		base       []Operation // what to compare with, op included or not
		why        string
		p          program
		turns      []int
		with, bare trace.Cost
	}{
		{
			op: RemoveLast, base: Paper(), why: "thread 1 is not needed",
			p:     program{funcs: [][]instr{{noise, fail}, {noise}}, start: []int{0, 1}},
			turns: []int{1, 0, 0},
			with:  trace.Cost{Switches: 0, Preemptions: 0, Threads: 1, Events: 2},
			bare:  trace.Cost{Switches: 1, Preemptions: 0, Threads: 2, Events: 3},
		},
		{
			op: MoveUp, base: Paper(), why: "thread 0 may finish first, but not start later",
			p: program{funcs: [][]instr{
				{set(0), set(2)},
				{need(0), set(1)},
				{need(1), need(2), fail},
			}, start: []int{0, 1, 2}},
			turns: []int{0, 1, 1, 0, 2, 2, 2},
			with:  trace.Cost{Switches: 2, Preemptions: 0, Threads: 3, Events: 7},
			bare:  trace.Cost{Switches: 3, Preemptions: 1, Threads: 3, Events: 7},
		},
		{
			op: MoveUpActions, base: Paper(), why: "thread 0 may go on until it blocks, and thread 1 must see its start",
			p: program{funcs: [][]instr{
				{set(0), noise, wait, fail},
				{need(0), post},
			}, start: []int{0, 1}, sems: []int{0}},
			turns: []int{0, 1, 1, 0, 0, 0},
			with:  trace.Cost{Switches: 2, Preemptions: 0, Threads: 2, Events: 6},
			bare:  trace.Cost{Switches: 2, Preemptions: 1, Threads: 2, Events: 6},
		},
		{
			op: MoveDown, base: Paper(), why: "thread 0 may start later, but not finish first",
			p:     program{funcs: [][]instr{{noise, need(0), fail}, {set(0)}}, start: []int{0, 1}},
			turns: []int{0, 1, 0, 0},
			with:  trace.Cost{Switches: 1, Preemptions: 0, Threads: 2, Events: 4},
			bare:  trace.Cost{Switches: 2, Preemptions: 1, Threads: 2, Events: 4},
		},
		{
			op: TakeRejected, base: Paper(), why: "removing thread 0's last TEI lets thread 1 end first, at equal switches",
			p:     *figure1(),
			turns: []int{1, 1, 0, 1, 0, 1, 0, 1, 0},
			with:  trace.Cost{Switches: 2, Preemptions: 1, Threads: 2, Events: 7},
			bare:  trace.Cost{Switches: 2, Preemptions: 2, Threads: 2, Events: 6},
		},
		{
			op: Cut, base: Paper(), why: "what thread 1 still has to do does no harm, and then the fair choice is right",
			p:     *figure1(),
			turns: []int{1, 1, 0, 1, 0, 1, 0, 1, 0},
			with:  trace.Cost{Switches: 2, Preemptions: 1, Threads: 2, Events: 7},
			bare:  trace.Cost{Switches: 2, Preemptions: 2, Threads: 2, Events: 6},
		},
		{
			op: RunOn, base: append(Paper(), Cut), why: "as for cut, but the fair choice after thread 0 is wrong",
			p: program{funcs: [][]instr{
				{set(0), noise},
				{need(0), need(1), fail},
				{need(0), set(1)},
			}, start: []int{0, 1, 2}},
			turns: []int{0, 2, 2, 1, 1, 1},
			with:  trace.Cost{Switches: 2, Preemptions: 0, Threads: 3, Events: 7},
			bare:  trace.Cost{Switches: 2, Preemptions: 1, Threads: 3, Events: 6},
		},
		{
			op: RunOn, base: append(Paper(), Cut), why: "as before, and thread 0 sleeps on its way, so that the first attempt leaves it there",
			p: program{funcs: [][]instr{
				{set(0), {kind: kSleep}, noise},
				{need(0), need(1), fail},
				{need(0), set(1)},
			}, start: []int{0, 1, 2}},
			turns: []int{0, 2, 2, 1, 1, 1},
			with:  trace.Cost{Switches: 2, Preemptions: 0, Threads: 3, Events: 8},
			bare:  trace.Cost{Switches: 2, Preemptions: 1, Threads: 3, Events: 6},
		},
		{
			op: MoveTEI, base: Paper(), why: "once thread 1 has kept the lock, thread 0 is not preempted but blocked",
			p: program{funcs: [][]instr{
				{set(0), {kind: kLock}},
				{{kind: kLock}, set(1)},
				{need(0), need(1), fail},
			}, start: []int{0, 1, 2}},
			turns: []int{0, 1, 1, 2, 2, 2},
			with:  trace.Cost{Switches: 2, Preemptions: 0, Threads: 3, Events: 6},
			bare:  trace.Cost{Switches: 2, Preemptions: 1, Threads: 3, Events: 6},
		},
		{
			op: Shift, base: Paper(), why: "what thread 0 does between the first operation and the preemption is not needed",
			p: program{funcs: [][]instr{
				{set(0), noise, noise, {kind: kWrite, a: 0, b: 2}},
				{need(0), fail},
			}, start: []int{0, 1}},
			turns: []int{0, 0, 0, 1, 1},
			with:  trace.Cost{Switches: 1, Preemptions: 1, Threads: 2, Events: 3},
			bare:  trace.Cost{Switches: 1, Preemptions: 1, Threads: 2, Events: 5},
		},
		{
			op: Restart, base: without(without(All(), Coarsen), Elsewhere), why: "main itself can do what thread 1 did; then thread 2 is to be chosen, which is not the fair choice",
			p: program{funcs: [][]instr{
				{{kind: kCreate, a: 1}, {kind: kCreate, a: 2}, set(0), {kind: kJoin, a: 0}, {kind: kJoin, a: 1}},
				{{kind: kLoad, a: 0}, {kind: kStore, a: 0, b: 1}},
				{need(0), fail},
			}, start: []int{0}},
			turns: []int{0, 0, 1, 1, 2, 2},
			with:  trace.Cost{Switches: 1, Preemptions: 0, Threads: 2, Events: 5},
			bare:  trace.Cost{Switches: 2, Preemptions: 1, Threads: 3, Events: 6},
		},
	} {
		t.Run(string(c.op), func(t *testing.T) {
			p := c.p
			p.vars, p.locks = 10, 1
			for _, f := range p.funcs {
				for i := range f {
					if f[i].to == 99 {
						f[i].to = len(f)
					}
				}
			}
			in := p.scripted(c.turns...)
			run := func(ops []Operation) trace.Cost {
				t.Helper()
				r, err := Simplify(context.Background(), Input{in, sameBug(in.Ending)}, p.run, Options{Operations: ops})
				if err != nil {
					t.Fatal(err)
				}
				return r.After
			}
			bare := without(c.base, c.op)
			if c.op == MoveUp {
				bare = without(bare, MoveUpActions)
			}
			if got := run(append(slices.Clone(bare), c.op)); got != c.with {
				t.Errorf("with it %+v, want %+v (%s)", got, c.with, c.why)
			}
			if got := run(bare); got != c.bare {
				t.Errorf("without it %+v, want %+v", got, c.bare)
			}
		})
	}
}
