// Package hb orders the events of an execution by happens-before.
//
// Happens-before is the least transitive relation that contains program order, and an edge from
// every operation that releases to every operation that acquires what it released (the table is in
// engine.go). As far as synchronisation is concerned, two events that it does not order could have
// happened in the other order; two such accesses to one location, at least one of them a write, are
// a data race (package race).
//
// The clocks are vector clocks (Mattern, "Virtual time and global states", 1989). A thread's own
// time advances only after it has released something, so that most events cost nothing and an event
// is identified by an Epoch, as in FastTrack (Flanagan & Freund, PLDI 2009, §3).
//
// Engine follows an execution event by event and answers for the latest event; Order stores the
// answers for all pairs of events of a recorded execution.
package hb
