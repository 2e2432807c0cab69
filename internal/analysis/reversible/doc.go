// Package reversible decides whether the dependent events of an execution could have happened in
// another order: the reversibility half of the pseudo-deterministic condition (TraceSanitizer, DSN
// 2020, Definition 1). It also decides whether another schedule ends in a deadlock. The published text defines the condition and only outlines the check, so the
// model below is this package's own.
//
// # Feasible reorderings
//
// A feasible reordering is a sequence of events of the trace such that
//
//   - it has the events of each thread in their order, from the first one, without gaps;
//   - each event but the last has the result that it had in the trace: it reads from the same
//     writes, a try-lock succeeds or fails as it did, a signal wakes the same threads;
//   - locks exclude: a mutex has one holder, a reader-writer lock one writer or any number of readers;
//   - a thread runs after its creation, and a join returns after the thread's end;
//   - a barrier releases its threads when all of the generation have arrived;
//   - a condition wait ends after the signal or broadcast that ended it in the trace;
//   - a semaphore's count never becomes negative;
//   - a heap block is accessed after its allocation. Blocks that had the same address at different
//     times are different memory;
//   - the n-th receive from a channel of Go has the value of the n-th send, since goroutines that wait are served in
//     the order of their arrival. The channel's capacity is not known, so a send never has to wait;
//   - a call of WaitGroup.Wait returns when what belongs to the calls of Add before it is done (type group);
//   - parallel regions, barriers and ordered sections of OpenMP with libgomp order threads as its specification demands
//     (type openMP).
//
// Memory is sequentially consistent. Time does not pass in the model: a sleep orders nothing.
//
// # Dependent events
//
// Two events of different threads are dependent if
//
//   - they access a common byte of memory and one of them writes or frees it;
//   - they operate on one condition variable; two waits only if something signals it (and so wakes one of
//     them) rather than broadcasts;
//   - they operate on one lock or semaphore, and one of them shows the thread its state (a try, a timed
//     operation, sem_getvalue). Blocking acquisitions and releases do not: their order shows only
//     in the memory that they guard;
//   - they reach one pthread_once, and one of them runs the function;
//   - they arrive at a barrier that more threads use than it waits for;
//   - they send on one channel, or both receive from it, and more than one goroutine does, or one closes it;
//   - one calls WaitGroup.Wait, and the other adds to the counter, unless Wait has to wait for it in either order;
//   - one calls runtime.NumGoroutine, and the other starts a goroutine or is the end of one;
//   - one initialises or destroys the object that the other operates on;
//   - one ends the execution, and the other is not merely the end of a thread.
//
// Which thread a barrier tells that it is the serial one is not counted as a dependence: programs that
// act on it differ in their events, which a re-execution shows.
//
// # Reversal
//
// A dependent pair (e, f), e first in the trace, is reversible if a feasible reordering ends with f
// and does not contain e. The paper asks for complete interleavings that contain both; whether e
// still happens after f is the program's choice, as f may have read another value, so the question is
// put without it.
//
// Of all reorderings that reverse some pair take a shortest one. Only its last event is out of order, so
// the events before keep every dependence: they are closed under program order, dependence order and
// the necessary orders above. So a pair needs to be considered only if no dependent event of another
// thread on the same object is between them, and e must not come before the events that f needs. Vector clocks decide this
// for each pair in constant time. Where the clocks leave a pair, only locks and semaphores can make a
// difference, and a search over cuts (how far each thread has run) decides it exactly:
// steps that cannot disable another thread's are taken at once, a critical section that can be completed is
// taken whole, and only other acquisitions are branched over. A pair beyond the search's budget goes to a
// solver, as a formula.
//
// # Deadlocks
//
// A deadlock reverses nothing, but its threads have fewer events. If no pair is reversible, every feasible
// reordering keeps all dependences, so the cut that it reaches is closed under the clocks. Suppose that no
// thread can go on from a cut. Follow, from any thread's next event, predecessors that have not happened: they
// are ever earlier, so this ends with an event that waits for a lock or semaphore. Some thread holds it, and that thread's
// next event, at or before its release, waits in turn. So there is a cycle in the graph (type resources) that has an
// edge L → M if an acquisition of M comes before a release of L, but not before L's acquisition.
//
// The release of a semaphore is the thread's own next up; other ups and downs have edges of their own
// (resources.counts). Semaphores from which one thread takes are not in the graph: a down waits for the ups
// before it in the trace. A waiting writer keeps readers out in Go, and in C where the lock's attribute says so;
// two nested read locks are then an edge L → L.
//
// Cycles of one thread, and cycles inside a gate lock, are dropped. For the rest, a search over cuts decides whether
// a deadlock is feasible. It branches only over acquisitions from which a cycle can be reached, and takes all
// other steps at once. What it finds has to be confirmed by an execution. It does not know the capacities of
// channels: if sends that may have to wait add edges to the cycles, it cannot exclude a deadlock. Then, and
// beyond the search's budget, the answer is Undecided.
//
// # What is not modelled
//
// Signals, timers, timed-out waits, descriptors, futexes other than libgomp's own, cancellation, child processes; of Go, select,
// operations that are tried, and everything in package sync except Mutex, RWMutex and WaitGroup. Such an event counts
// as dependent on every event of other threads, so that an answer that the condition holds never rests on its
// order. But that is a guess, so a pair with such an event cannot make the condition fail either: if it may be
// reversible, and no other pair is, the answer is Undecided.
package reversible
