// Package depend says which events of a trace must keep their order.
//
// Two events depend on one another when swapping them could change what the program does:
// they are of one thread, they touch one memory location and one of them writes, they
// change one lock, one makes the other possible (create, join, signal, post, barrier). A
// trace in which every two dependent events keep their order is another interleaving of
// the same execution: every read reads the same write, every lock is taken in the same
// order, and the execution ends the same way. That is what simplification without running
// anything rests on (Huang and Zhang, SAS'11, §3).
//
// It works in two steps. An Interpreter turns events, whose operations package ops describes,
// into effects on memory, locks and tokens, of which there are few kinds; a Builder turns
// effects into a Graph. Both see the events once, in order, and the memory is linear in the
// trace.
package depend
