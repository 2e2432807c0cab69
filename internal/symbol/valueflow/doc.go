// Package valueflow decides whether a loop can end because of what its thread alone knows: a count of its turns in a register, or a sum
// on its stack.
//
// A thread has made the same accesses with the same values for some periods. At the beginning of each, its registers and its
// stack were the same, but for some bytes: these are *private*. The package follows values through the instructions from there on, in
// machine code, over all paths that make the accesses that were seen in their order. Whatever an instruction computes from
// something private is private, too. The loop cannot end by it if nothing private
//
//   - is in the flags that a conditional jump reads,
//   - is an address, of an access or of a jump,
//   - is an operand that may make an instruction fault, as in a division,
//   - is stored anywhere but in the thread's own stack, at an offset from the stack pointer, or
//   - is an argument of a function that heddle does not know to ignore it.
//
// Then it never ends. Proof, by induction: assume that what is not private is in the next period as it was in the last. The instructions that are
// executed are the same, as is all that they compute from what is not private and from what they read. What they read from other
// memory is the same: the period has stored there only what it read, computed from what is not private, in accesses whose values were seen to
// recur; other threads change nothing of it, which the caller knows. So the next period ends as the last one did.
//
// Paths that were not taken in the periods that were seen do not count: a jump that depends on nothing private takes the same
// way in each period. A path counts if it leads, without another access, from an access to one that was seen to come next. The events of accesses
// tell which these are; entries and exits of functions are among them.
//
// All else means that the loop may end: an instruction that is not known, code that cannot be read, a call through a pointer, a library's
// function. So there is a proof, or no verdict.
package valueflow
