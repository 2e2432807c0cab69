// Package race finds the data races of an execution: two accesses to a common byte by different
// threads, at least one of them a write and at least one not atomic, that happens-before does not
// order. A free is a write of its whole block, and so is an allocation by code with access hooks, until its bytes are
// written again: whoever reads a fresh block must have got it in order. An operation that begins or ends the lifetime of a
// synchronisation object or a descriptor (init, destroy, close) also races with a use of it, and with plain
// accesses to its first byte.
//
// Detector is a happens-before detector with epochs after FastTrack (Flanagan & Freund, PLDI 2009)
// with a different guarantee. FastTrack finds a race on a variable if one exists; Detector finds
// every pair of instructions that races anywhere in the execution, because heddle makes both of
// them scheduling points. A byte therefore remembers the latest access of each thread by each
// instruction rather than one write, and forgets those that every live thread knows of, which
// cannot race with later accesses. Only where a byte still has very many (compactAt) does it keep
// just the latest access of each strength for each thread: then a racing access is still found,
// with one partner rather than all.
//
// Every race reported is a race of the recorded execution. Other branches and orders, which did not
// occur in it, are not considered.
package race
