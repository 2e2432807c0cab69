package tinertia

import "slices"

// Operation is a simplifying operation: one way to turn the current execution into
// candidates.
type Operation string

// The operations of FSE'10 §3.3.
const (
	// RemoveLast removes the last TEI of a thread: remove-last-tei.
	RemoveLast Operation = "remove-last-tei"
	// MoveUp merges the next TEI of a thread into an earlier one: move-up-tei, the
	// first stage of Two-Stage Consolidate Up.
	MoveUp Operation = "move-up-tei"
	// MoveUpActions merges the part of that TEI that could run at the earlier place:
	// move-up-actions, the second stage. Part of MoveUp's pass: without MoveUp it is
	// not tried.
	MoveUpActions Operation = "move-up-actions"
	// MoveDown merges the previous TEI of a thread into a later one: move-down-tei.
	MoveDown Operation = "move-down-tei"
)

// Operations beyond the paper. Except for Coarsen, they are tried once Algorithm 1 has
// reached its fixed point. None is bound by the cost of its script: a candidate is
// accepted if the execution shows the bug and its Cost is lower than the current one's.
const (
	// Coarsen goes before Algorithm 1 on traces of more than coarseAbove TEIs: it leaves
	// the end of the trace to the fair scheduler, or makes one TEI per thread out of many
	// TEIs at once, so that a long random walk loses most of its switches in some dozens
	// of executions.
	Coarsen Operation = "coarsen"
	// TakeRejected goes on from an execution that showed the bug and is simpler than
	// the current one, but had more switches than its script, so that the paper's test
	// rejected it.
	TakeRejected Operation = "take-rejected"
	// Cut keeps the first TEIs and leaves the rest to the fair non-preemptive scheduler.
	Cut Operation = "cut"
	// RunOn lets a preempted thread go on until it blocks, as far as the failed Cut at
	// the same place showed that it goes, and keeps the rest. Part of Cut's pass:
	// without Cut it is not tried.
	RunOn Operation = "run-on"
	// MoveTEI moves a TEI past TEIs of other threads, so that those merge.
	MoveTEI Operation = "move-tei"
	// Shift moves the end of a TEI: the thread is preempted some actions later or earlier,
	// and the rest is kept, or else left to the fair scheduler.
	Shift Operation = "shift"
	// Restart starts again from the fair non-preemptive execution and puts back at most
	// restartBound preemptions, those of the current execution and their surroundings
	// first, as in iterative context bounding (Musuvathi and Qadeer, PLDI'07).
	Restart Operation = "restart"
)

// paper is the operations of Algorithm 1.
var paper = []Operation{RemoveLast, MoveUp, MoveUpActions, MoveDown}

var beyond = []Operation{TakeRejected, Cut, RunOn, MoveTEI, Shift, Restart}

// All is every operation, in the order they are tried in.
func All() []Operation {
	return slices.Concat([]Operation{Coarsen}, paper, beyond)
}

// Beyond reports whether the operation is not in the paper.
func (o Operation) Beyond() bool { return !slices.Contains(paper, o) }

// Known reports whether there is such an operation.
func (o Operation) Known() bool { return slices.Contains(All(), o) }
