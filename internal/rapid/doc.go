// Package rapid reads and writes traces in the STD format of RAPID, a text file with a line
// for each event, which many tools for race prediction read and write:
//
//	T0|fork(T1)|12
//	T1|acq(L3)|345
//	T1|r(V17)|346
//	T1|w(V17)|347
//	T1|rel(L3)|348
//	T0|join(T1)|13
//
// The fields are the thread, the operation with what it is done to, and the place in the
// program, a number. The operations are r and w of a variable, acq and rel of a lock, fork
// and join of a thread, begin and end. Names are anything without blanks, '|' and
// parentheses at the ends.
//
// # What the formats have that the other has not
//
// STD has no values, sizes, call stacks, enabled threads and outcome, and no
// synchronisation but locks and threads. Write reports what it omitted or approximated
// (Loss).
//
// In STD begin and end are the bounds of a block that is meant to be atomic. As the first
// and last event of a thread they are read as its start and end; others are omitted, and
// Read reports their number.
package rapid
