// Package race finds the data races of an execution: two accesses of a common byte by
// different threads, at least one of them a write and at least one of them not atomic,
// that happens-before does not order. A free is a write of its whole block.
//
// Detector is a happens-before detector with epochs in the manner of FastTrack (Flanagan
// & Freund, PLDI 2009) and differs from it in what it promises. FastTrack finds a race on
// a variable if there is one; here every pair of instructions that races somewhere in the
// execution is found, because heddle makes both of them scheduling points. So a byte
// remembers the latest access of each thread by each instruction rather than one write,
// and forgets those that every living thread knows of, which can race with nothing to
// come. Only where a byte still has very many (compactAt) does it fall back on
// remembering, for each thread, the latest access of each strength: then a racing access
// is still found, with one partner rather than all.
//
// Nothing is reported that is not a race of the recorded execution. What did not happen in
// it, another branch or order, is not looked at.
package race
