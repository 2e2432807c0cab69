// Package report makes an execution readable: a View has a column for each thread and a
// row for each event, like figures 2 to 5 of FSE'10, with names, source lines and values
// instead of addresses.
//
// A view is short first. Three things are taken out of the way, and all of them can be
// had back (Row.Rows, View.Full):
//
//   - events that no other thread can notice, in a run of one thread, become one row;
//   - repeated blocks of events become one block with a count, also where several threads
//     take turns in it, as in a spin loop that yields;
//   - frames of system headers: an event is placed where the program's own code is.
//
// Every context switch is a row of its own and says why it happened: PREEMPTED, or what
// the thread waits for. The failure is told last, a deadlock as who holds what.
//
// A view is plain data for the packages that draw it. It knows no terminal and no HTML.
package report
