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
	// move-up-actions, the second stage. It is part of MoveUp's pass and not tried without MoveUp.
	MoveUpActions Operation = "move-up-actions"
	// MoveDown merges the previous TEI of a thread into a later one: move-down-tei.
	MoveDown Operation = "move-down-tei"
)

// Operations beyond the paper. Except for StaticMerge and Coarsen, they are tried once Algorithm 1 has reached its
// fixed point. The number of switches in the script does not limit them: a candidate is accepted if
// its execution shows the bug and has a lower Cost than the current one.
const (
	// Coarsen runs before Algorithm 1 on traces of more than coarseAbove TEIs. It leaves the end of
	// the trace to the fair policy, or merges many TEIs into one per thread at once, so that a long
	// random walk loses most of its switches in a few dozen executions.
	Coarsen Operation = "coarsen"
	// StaticMerge reorders independent operations (Options.Reorder). It takes one execution, and does at once what
	// many moves of single TEIs do. It comes between the passes of Algorithm 1.
	StaticMerge Operation = "static-merge"
	// TakeRejected continues from an execution that showed the bug and is simpler than the current
	// one, but that the paper's test rejected because it had more switches than its script.
	TakeRejected Operation = "take-rejected"
	// Cut keeps the first TEIs and leaves the rest to the fair non-preemptive policy.
	Cut Operation = "cut"
	// RunOn lets a preempted thread run until it blocks, as far as it ran in the rejected Cut at
	// the same place, and keeps the rest. It is part of Cut's pass and not tried without Cut.
	RunOn Operation = "run-on"
	// MoveTEI moves a TEI past TEIs of other threads, so that those merge.
	MoveTEI Operation = "move-tei"
	// Shift moves the end of a TEI, so that the thread is preempted some actions later or earlier.
	// It keeps the rest, or else leaves it to the fair policy.
	Shift Operation = "shift"
	// Restart starts from the fair non-preemptive execution and tries the schedules that cost
	// less than the current execution: first those with the fewest preemptions, and among them
	// those that preempt at and near its preemptions. This is iterative context bounding
	// (Musuvathi and Qadeer, PLDI'07). When it has tried all of them, the current execution is
	// minimal.
	Restart Operation = "restart"
	// Elsewhere searches for the bug under other schedules and simplifies the failing
	// executions. It is tried after all others, unless Restart has shown that no schedule costs
	// less.
	Elsewhere Operation = "elsewhere"
)

// paper lists the operations of Algorithm 1.
var paper = []Operation{RemoveLast, MoveUp, MoveUpActions, MoveDown}

var beyond = []Operation{TakeRejected, Cut, RunOn, MoveTEI, Shift, Restart, Elsewhere}

// All returns all operations in the order in which they are tried.
func All() []Operation {
	return slices.Concat([]Operation{StaticMerge, Coarsen}, paper, beyond)
}

// Beyond reports whether the operation is not in the paper.
func (o Operation) Beyond() bool { return !slices.Contains(paper, o) }

// Known reports whether the operation exists.
func (o Operation) Known() bool { return slices.Contains(All(), o) }
