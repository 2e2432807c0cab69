// Package finding decides when two failed executions show the same bug.
//
// The simplifier changes the schedule and asks whether the bug still occurs, a replay asks whether
// it is the recorded one, a search whether it is new. Identity must therefore not depend on what
// differs between schedules that show the same bug: addresses, thread numbers, the progress of
// other threads. By kind of failure, two findings are the same when they agree in
//
//	assertion   message, without what varies, and place
//	signal      number and place
//	misuse      message, without addresses and thread numbers, and place; for the unlock of a
//	            lock that the thread does not hold, also without the owner of the lock
//	exception   type; the report comes far from the throw, and the calls in between are
//	            part of the schedule
//	exit        status
//	wrong output
//	            the oracle's exit status: which text comes out wrong depends on the schedule
//	deadlock    with a cycle: the operations and sites of the threads on the cycle, each
//	            as often as it occurs. Threads that wait for the cycle do not count.
//	            Without a cycle: the set of operations and sites that threads wait at,
//	            each once. Joins count only if no thread waits elsewhere: a thread that joins
//	            a stuck thread is stuck because of it
//	            In a child process: the operation and site that its thread waits at
//	hang        nothing else
//	test        place: what the test got and wanted differs between executions. The
//	            first error counts; others may follow from it. Without a place, the message
//	            without what varies
//	panic       message, without what varies, and place; likewise an error that Go's runtime
//	            cannot recover from
//	leak        the set of operations and sites that goroutines wait at
//	race        the two sites, in either order
//
// What varies is numbers, addresses and hexadecimal identifiers in a text that the program makes while
// it runs, such as ports, process ids, times and counters: they do not separate findings of one kind
// and place. The expression of an assertion is a constant and counts as a whole.
//
// The place is where the failing thread was in the program's own code: the failing instruction, or
// the innermost call on its stack from the program into a library.
//
// Threads are not part of the identity: whichever worker of a pool fails, the bug is the same. If
// the identity is too coarse, the simplifier may drift to a different bug; if it is too fine, it
// stops early and a search counts one bug twice. Hangs are the hardest case. A loop that makes no
// progress is cut off by a step budget, at any of its instructions, and the threads that wait
// meanwhile depend on the schedule, so comparing places would reject most variants of the same
// hang. Two different hangs in one program are rare, so all hangs count as one.
package finding
