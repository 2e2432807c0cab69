// Package static simplifies a trace without running anything: it reorders the events so
// that the threads switch less often, and keeps every dependence (package depend), so the
// result is the same execution, only easier to follow.
//
//   - SimTrace merges nodes of the dependence graph (Huang and Zhang, SAS'11).
//   - BackwardForward moves each piece of a thread down to the thread's next piece, then up
//     to the one before, until that gains nothing.
//   - Optimum finds the fewest switches there can be for these dependences, where the trace
//     is small enough, and otherwise a number that there cannot be fewer than.
//   - Reordered takes the best of them for a trace.
//
// BinTrcRed, which also hands out a proof, is in the package below this one.
package static
