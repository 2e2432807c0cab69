// Package term draws a report.View for a terminal or a text file: a column per thread as
// in figures 2 to 5 of FSE'10, at any width.
//
// If the width allows it, the source line is right of the columns, in one column for all threads,
// since only one runs at a time. In less width the position is below each event; with more threads
// than columns fit, a thread is a lane one character wide and the events are beside the lanes; with
// more threads than lanes fit, the events are a list, each with its thread's number.
package term
