// Package ops defines what each operation of a trace means: in a table with a row per operation,
// and in a state machine that consumes events.
//
// # The table
//
// A row (Spec) has what the operation does (Action), to what kind of object (Family), what it
// blocks on (Condition), which results mean success (Results), what its event's Value and Aux name
// (Role), and the words that reports use. Operations that differ only in their object or in how
// they fail share an action: a mutex lock, a spin lock's try-lock and a timed write lock all
// Acquire. Happens-before, dependences, reports and file formats use actions, families and roles,
// so most new operations are one row here and nothing elsewhere.
//
// # The state machine
//
// A State follows the synchronisation of one execution. After events e0..ei have been applied, in
// order, it has
//
//   - for each lock its holders, the event and depth of each hold, and the number of waiting
//     writers that block readers;
//   - for each condition variable and futex its waiters, in order of arrival, and for each
//     thread whether it has been woken since;
//   - for each semaphore its count, for each barrier the threads that have arrived in the current
//     generation, for each once whether it runs, for each descriptor the data written and not read;
//   - for each thread whether it was created, has ended, has signals pending or a pending
//     cancellation request.
//
// Apply returns what the event changed in these terms (Change): which thread acquired or released
// which object, waits, was woken, arrived. Analyses attach their clocks and tokens to changes and
// do not depend on the operation. Can reports whether a thread could perform an operation at this
// point. Enabled combines both with each thread's next operation, for a whole trace.
//
// An operation that failed changes nothing: a try-lock that found the lock taken, a wait that
// was cancelled before it began. There are two exceptions. A condition wait reacquires its mutex
// even when it timed out or was cancelled, unless the mutex cannot be recovered. And a lock of a
// robust mutex whose owner died fails with EOWNERDEAD and acquires it.
//
// A condition wait is two events. The first (Wait) releases the mutex, whatever its depth, and
// enters the queue; the second (Resume) leaves the queue and acquires the mutex again at the same
// depth. In between the thread is woken by a signal or broadcast, or leaves the queue unwoken: at a
// time-out, a spurious wake-up, a cancellation. A futex wait is the same without a mutex. The event
// of a futex wake has the number of threads that it woke, and names one. If it woke only some of
// the waiters, any of them may have been woken (MayWake).
//
// A barrier's generation ends when as many threads have arrived as its initialisation specifies. In
// a trace without the initialisation, a new generation begins with an arrival numbered 1, or with
// the first arrival after a thread has left.
//
// A reader-writer lock that prefers writers has an event where a writer begins to wait
// (Announce); until that writer has the lock or fails, readers block.
//
// A semaphore whose initialisation is not in the trace has the count that its first event implies.
//
// # Incomplete and inconsistent traces
//
// A trace may begin late, lack operations, or come from another tool. The state machine accepts
// every event and gives the latest one precedence. A thread that acquires a lock holds it, and
// earlier holders must have released it outside the trace. A lock released by a thread that does
// not hold it is released for its holder. A thread that resumes had waited. Init and destroy
// operations forget the object: the next one at its address is a different object.
//
// # Goroutines
//
// In a Go program an operation's event comes just before the operation; if the goroutine blocks, a
// separate event (OpResume) follows when it continues. Whether it blocked is only known from the
// goroutine's next event, so the caller passes it to ApplyGo. Goroutines are ordered not by these
// operations but by the acquire and release events of Go's race detector around them, so State only
// tracks the owners of sync.Mutex and sync.RWMutex.
package ops
