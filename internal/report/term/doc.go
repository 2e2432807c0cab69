// Package term draws a report.View for a terminal or a text file: a column per thread as
// in figures 2 to 5 of FSE'10, in whatever width there is.
//
// Where the columns are wide enough, the source line stands right of them, one column for
// all threads, since only one runs at a time. In less room the position goes below each
// event; with more threads than columns fit, a thread is a lane one character wide and the
// events are told beside the lanes; and with more threads than even that carries, they
// are told in order, with the thread's number before each.
package term
