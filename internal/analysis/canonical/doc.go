// Package canonical makes the traces of two executions comparable: TraceSanitizer (Habib et al., DSN
// 2020). It names threads and memory independently of the schedule and of where memory was, groups
// events by thread, and omits what only says when a thread ran. Two executions of a
// pseudo-deterministic program (definition 1 there) with the same input then have the same sanitised
// trace, byte for byte, so every deviation of one from the other means something.
//
// The paper compares traces of LLVM instructions; heddle's have the accesses, the calls that
// synchronise, and the allocations. docs/sanitize.md specifies what a sanitised trace keeps, and the
// file.
package canonical
