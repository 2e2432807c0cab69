// Package hb orders the events of an execution by happens-before.
//
// Happens-before is the least transitive relation that holds program order, and an edge
// from every operation that releases to every operation that acquires what it released
// (the table is in engine.go). Two events that it does not order could have run the other
// way round as far as synchronisation goes; two such accesses of one location, at least
// one of them a write, are a data race (package race).
//
// The clocks are vector clocks (Mattern, "Virtual time and global states", 1989). A
// thread's own time moves only after it has released something, so that most events cost
// nothing and an event is named by an Epoch, as in FastTrack (Flanagan & Freund, PLDI
// 2009, §3).
//
// Engine follows an execution event by event and answers for the present; Order keeps the
// answers for all pairs of events of a recorded execution.
package hb
