// Package tinertia simplifies a failing execution by executing simpler ones: it merges
// and removes thread execution intervals (TEIs) and keeps whatever still shows the same
// bug. Jalbert and Sen, "A Trace Simplification Technique for Effective Debugging of
// Concurrent Programs", FSE'10: Algorithm 1 (§3.3) with the trace transformation of §4.1
// and the acceptance test of §4.2.1, then operations of our own for the local minima
// that Algorithm 1 stops at.
//
// A candidate is a script: the choices of the current execution, permuted and thinned.
// An Executor follows it tolerantly, and what counts is the execution it induces, not
// the script. The paper accepts it if it shows the bug and has no more context switches
// than the script; simplification then goes on from the induced execution.
//
// Deviations from the paper:
//
//   - Traces are ordered by trace.Cost: switches, preemptions, threads, events. The paper
//     orders by switches alone, and its line 23 stops when they no longer fall, although
//     move-up-actions lowers preemptions at equal switches and so makes room for merges.
//   - An accepted execution never has a higher Cost than the one before. The paper's
//     test lets preemptions and length grow.
//   - A schedule whose execution is known is not executed again.
//   - Events that were not choices (trace.FlagNoChoice) take no part; they are back in the
//     traces handed out, because those are recordings.
//   - After Algorithm 1 has reached its fixed point further operations are tried, see
//     Operation; when one succeeds Algorithm 1 runs again.
//
// Termination: every acceptance lowers Cost, which is well-founded, except that
// move-up-actions may keep it equal. Within one pass of Algorithm 1 its position only
// moves forward, over a sequence that cannot grow at equal Cost; and a pass is only
// repeated after Cost has fallen.
package tinertia
