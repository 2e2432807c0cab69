// Package atomicity finds the unserializable interleavings that a program may have, after CTrigger
// (Park, Lu and Zhou, ASPLOS 2009, §4).
//
// An interleaving is three instructions: p and c access a location one after the other in one thread,
// and r accesses it from another thread in between, so that no serial order of the two threads gives
// the same values. There are four patterns (Pattern). A Profile reads recorded executions with all
// their accesses, and returns every interleaving that the program's accesses could form, each with
//
//   - whether it is feasible, as far as the recordings show. It is pruned (§4.2.1) if in every place
//     where the three meet, thread creation, join, barriers or once put r before p or after c, or r's
//     critical section excludes one section that holds both p and c, or if the three never touched
//     the same block of memory;
//   - how often it was exercised;
//   - how likely it is (§4.3): the summed local gap, and the remote distance.
//
// Deviations from the paper: once orders like a barrier; read locks of one reader-writer lock do not
// exclude each other; an atomic read-modify-write counts as a read and as a write; a free counts as
// a write of the whole block; gaps are measured in operations and accesses of the thread unless the
// recording has times.
package atomicity
