// Package finding decides when two failed executions show the same bug.
//
// The simplifier changes the schedule and asks whether the bug is still there, a replay
// asks whether it is the recorded one, a search whether it has seen it before. So identity
// must not depend on what another schedule changes though the bug is the same: addresses,
// thread numbers, how far the other threads had come. By kind of failure, two are the same
// when they agree in
//
//	assertion   message and place
//	signal      number and place
//	misuse      message, addresses and thread numbers left out, and place; of the unlock of
//	            a lock that the thread does not hold, who else holds it left out
//	exception   type; it is reported far from where it was thrown, and the way there is
//	            part of the schedule
//	exit        status
//	deadlock    with a cycle: the operations and sites of the threads on the cycle, each
//	            as often as it occurs. Threads hanging on to the cycle do not matter.
//	            Without one: the set of operations and sites that threads wait at, how
//	            many at each left out. Joins count only where there is nothing else, for
//	            who joins a stuck thread is stuck because of it
//	hang        nothing more
//	test        place; what it got and wanted differs from one execution to the next. The
//	            first error counts, others may come of it. Without a place the message,
//	            numbers left out
//	panic       message, numbers left out, and place; likewise an error that Go's runtime
//	            cannot recover from
//	leak        the set of operations and sites that goroutines wait at
//	race        the two sites, whichever comes first
//
// The place is where the failing thread was in the program's own code: the failing
// instruction, or the innermost call on its stack that left the program for a library.
//
// Threads are not part of it: whichever worker of a pool fails, it is the same bug. Where
// identity is too coarse, the simplifier may slide from one bug to its neighbour; where it
// is too fine, it stops early and a search counts one bug twice. Hangs are where the
// choice is hardest. A loop that makes no progress is cut off by a budget of steps, at any
// of its instructions, and which threads are waiting besides depends on the schedule; any
// comparison of places refuses most of a hang's own variants. Two different hangs of one
// program are rare, so all hangs are taken for one.
package finding
