// Package ops defines what each operation of a trace means: in a table with a row per operation,
// and in a state machine that consumes events.
//
// # The table
//
// A row (Spec) has what the operation does (Action), to what kind of object (Family), what it
// blocks on (Condition), which results mean that it was done (Results), what its event's Value
// and Aux name (Role), and the words that reports use. Operations that differ only in their
// object or in how they fail share an action: a mutex lock, a spin lock's try-lock and a timed
// write lock all Acquire. Happens-before, dependences, reports and file formats look at actions,
// families and roles, so most new operations are one row here and nothing elsewhere.
//
// # The state machine
//
// A State follows the synchronisation of one execution. After events e0..ei were applied, in
// order, it knows
//
//   - of each lock its holders, since which event and how deep, and how many writers readers
//     must wait for;
//   - of each condition variable and futex its waiters, in order of arrival, and of each
//     thread whether it was woken since;
//   - of each semaphore its count, of each barrier the threads that have arrived in the present generation,
//     of each once whether it runs, of each descriptor what was written and not read;
//   - of each thread whether it was created, has ended, has signals pending, is to be cancelled.
//
// Apply returns what the event changed in these terms (Change): which thread acquired or released
// what, waits, was woken, arrived. Analyses attach their clocks and tokens to changes and
// need not know the operation. Can reports whether a thread could do an operation at this
// point. Enabled combines both with what each thread does next, for a whole trace.
//
// An operation that failed changes nothing: a try-lock that found the lock taken, a wait that
// was cancelled before it began. There are two exceptions. A condition wait reacquires its mutex
// even when it timed out or was cancelled, unless the mutex cannot be recovered. And a lock of a
// robust mutex whose owner died fails with EOWNERDEAD and acquires it.
//
// A condition wait is two events. The first (Wait) releases the mutex, however deep it is held,
// and enters the queue; the second (Resume) leaves the queue and acquires the mutex again as
// deep. In between the thread is woken by a signal or broadcast, or leaves the queue unwoken:
// at a time-out, a spurious wake-up, a cancellation. A futex wait is the same without a mutex.
// An event of a futex wake says how many it woke, and names one. Where it woke some and not
// all, any of those that wait may have been woken (MayWake).
//
// A barrier's generation ends when as many threads have arrived as its initialisation says. In
// a trace without the initialisation it ends with the first arrival that is counted as one, or
// that comes after a thread has left.
//
// A reader-writer lock that prefers writers has an event where a writer begins to wait
// (Announce); until that writer has the lock or fails, readers block.
//
// A semaphore whose initialisation is not in the trace has the count that its first event
// implies.
//
// # Incomplete and inconsistent traces
//
// A trace may begin late, lack operations, or come from another tool. The state machine never
// refuses an event; it believes the latest one. A thread that acquires a lock has it, and those
// that held it must have released it unseen. A lock released by a thread that does not hold it
// is released for its holder. A thread that resumes had waited. Init and destroy operations
// forget the object: the next one at its address is another.
//
// # Goroutines
//
// In a Go program an operation's event stands where the goroutine is about to do it; if it
// blocks, an event of its own (OpResume) follows when it continues. Whether it blocked is only
// known from the goroutine's next event, so the caller reports it: ApplyGo. Not these operations but
// the acquire and release events of Go's race detector around them order goroutines, so State has only the owners of sync.Mutex and sync.RWMutex.
package ops
