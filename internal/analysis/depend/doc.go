// Package depend determines which events of a trace must keep their order.
//
// Two events depend on one another if swapping them could change what the program does: they are of
// the same thread, they access the same memory location and one of them writes, they change the
// same lock, or one enables the other (create, join, signal, post, barrier). A trace in which every
// two dependent events keep their order is another interleaving of the same execution: every read
// reads the same write, every lock is acquired in the same order, and the execution ends in the
// same way. This is the basis of simplification without executing anything (Huang and Zhang,
// SAS'11, §3).
//
// The package works in two steps. An Interpreter turns events, whose operations package ops
// describes, into effects on memory, locks and tokens, of which there are few kinds; a Builder
// turns effects into a Graph. Both receive the events once, in order; the memory is linear in the
// length of the trace.
package depend
