// Package report makes an execution readable: a View has a column for each thread and a
// row for each event, like figures 2 to 5 of FSE'10, with names, source lines and values
// instead of addresses.
//
// A view starts short. It abbreviates three things, all of which can be expanded (Row.Rows,
// View.Full):
//
//   - consecutive events of one thread that no other thread can notice become one row;
//   - repeated blocks of events become one block with a count, even if several threads alternate in
//     it, as in a spin loop that yields;
//   - frames of system headers are skipped: an event's place is in the program's own code.
//
// Every context switch has its own row, which says why it happened: PREEMPTED, or what the thread
// waits for. The failure comes last; for a deadlock it shows which thread holds which lock.
//
// A view is plain data for the packages that render it, independent of the output format.
package report
