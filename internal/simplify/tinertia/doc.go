// Package tinertia simplifies a failing execution by running simpler ones: it merges and removes
// thread execution intervals (TEIs) and keeps every change that still shows the same bug. Jalbert
// and Sen, "A Trace Simplification Technique for Effective Debugging of Concurrent Programs",
// FSE'10: it implements Algorithm 1 (§3.3) with the trace transformation of §4.1 and the acceptance
// test of §4.2.1, and adds operations for the local minima at which Algorithm 1 stops.
//
// A candidate is a script: the scheduling decisions of the current execution, permuted and with
// some removed. An Executor follows the script tolerantly, and the oracle judges the execution that
// it induces, not the script. The paper accepts the execution if it shows the bug and has no more
// context switches than the script; simplification then continues from it.
//
// Deviations from the paper:
//
//   - Traces are ordered by trace.Cost: switches, preemptions, threads, events. The paper
//     orders by switches alone, and its line 23 stops when they no longer fall, although
//     move-up-actions lowers preemptions at equal switches and so makes room for merges.
//   - An accepted execution never has a higher Cost than the one before. The paper's
//     test lets preemptions and length grow.
//   - A schedule whose execution is known is not executed again.
//   - Events that were not scheduling decisions (trace.FlagNoDecision) are ignored. Returned traces
//     contain them, because those are recordings.
//   - After Algorithm 1 has reached its fixed point, further operations are tried (see Operation).
//     When one succeeds, Algorithm 1 runs again.
//
// Termination: every acceptance lowers Cost, which is well-founded, except that
// move-up-actions may keep it equal. Within one pass of Algorithm 1 its position only
// moves forward, over a sequence that cannot grow at equal Cost; and a pass is only
// repeated after Cost has fallen.
package tinertia
