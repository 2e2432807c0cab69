// Package static simplifies a trace without running anything: it reorders the events so that the
// threads switch less often, and keeps every dependence (package depend), so that the result is the
// same execution, only easier to follow.
//
//   - SimTrace merges nodes of the dependence graph (Huang and Zhang, SAS'11).
//   - BackwardForward moves each interval of a thread down to the thread's next interval,
//     then up to the previous one, until that gains nothing.
//   - Optimum finds the fewest switches possible with these dependences, if the trace is
//     small enough, and otherwise a lower bound.
//   - Reordered uses the best of them for a trace.
//
// BinTrcRed, which also produces a proof, is in package bintrcred.
package static
