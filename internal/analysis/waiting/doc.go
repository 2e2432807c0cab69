// Package waiting recognises threads that wait in loops, and so decides about an execution that does not end: is it a hang, a
// livelock, or just unfinished?
//
// It looks at the events of an execution's fair phase (docs/scheduler.md), accesses included where the target records
// them. What a thread does in an event is its *act*: operation, instruction, object, and the values that it
// read and wrote. The lengths of sleeps and what clocks say do not belong to it. A thread *repeats* itself if all
// its acts from some event on occurred before it. A thread that waits in a loop does, whatever it does there: it
// takes a lock to look, counts itself in and out, or reads a hundred flags. A thread that gets on does not: it comes to other
// instructions, or its values change.
//
//   - A *hang*: each thread is blocked, or repeats itself and looks at something that has one value for it and that no
//     other thread changes.
//   - A *livelock*: each thread is blocked or repeats itself, and one that repeats itself looks only at what others
//     change. So the states of the execution recur, although threads change something.
//   - Otherwise the execution is unfinished. A loop that counts cannot be told from one that comes to an end, unless its code tells. If only
//     one thread runs, it may count in memory, too: then its acts recur but for their values.
//
// Threads may get on where no operation tells of it: they count their turns in registers, or read a file. If the target
// shows the states of threads (schedule.Plan.States), those must recur, too, and stand for the values of
// a thread's accesses to its own stack, where times may be: the states tell them relative to now. What moves data into or out of a descriptor never
// repeats itself. A state that does not recur does not count if no word in which it differs can end the loop (Words).
//
// A thread that repeats itself and looks at nothing, as one that sleeps and serves, is *idle*. Beside one, an execution is a hang
// if main waits for something that an idle thread will not do: itself, or in the end of a thread that does.
//
// This is evidence from one execution, and no proof: a loop may give up after more turns than were seen. The caller decides how
// many turns, and how many differently seeded executions, are enough.
package waiting
