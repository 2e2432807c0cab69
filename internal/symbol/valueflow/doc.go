// Package valueflow decides whether a loop can end because of what its thread alone knows: a count of its turns in a register, a sum
// on its stack, or the visits that it counts in the nodes of a list.
//
// A thread has made the same accesses for some periods. At the beginning of each, its registers and its
// stack were the same, but for some bytes, and the accesses had the same values, but for some places in memory: these bytes and places are
// *private*. The package follows values through the instructions from there on, in
// machine code, over all paths that make the accesses that were seen in their order. Whatever an instruction computes from
// something private is private, too. The loop cannot end by it if nothing private
//
//   - is in the flags that a conditional jump reads,
//   - is an address, of an access or of a jump,
//   - is an operand that may make an instruction fault, as in a division,
//   - is stored where the steps do not tell, or where another process may read it, or
//   - is an argument of a function that heddle does not know to ignore it.
//
// Then it never ends. Proof, by induction: assume that what is not private is in the next period as it was in the last. The instructions that are
// executed are the same, as are their addresses, and all that they compute from what is not private and from what they read. What they
// read from memory that is not private is the same: the period has stored there only what it computed from what is not private; other
// threads change nothing of it, which the caller knows. So the next period ends as the last one did.
//
// Events tell what memory a step accesses. Where a step stores something private, all that it accesses is private from
// then on, and the proof begins again. Other threads must not read it, so the thread must be the only one that runs. What an instruction
// reads is not private if the program has announced an access at the same address, in a step that accesses nothing private.
//
// Paths that were not taken in the periods that were seen do not count: a jump that depends on nothing private takes the same
// way in each period. A path counts if it leads, without another access, from an access to one that was seen to come next. The events of accesses
// tell which these are; entries and exits of functions are among them.
//
// All else means that the loop may end: an instruction that is not known, code that cannot be read, a call through a pointer, a library's
// function. So there is a proof, or no verdict.
package valueflow
