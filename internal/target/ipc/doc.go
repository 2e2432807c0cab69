// Package ipc is what every kind of target shares: the shared memory between controller and
// program, its two rings, the encoding of plans and decoding of records, process start, and the
// loop that feeds plans and watches the program. internal/abi defines the layout; the C side of
// each memory barrier here is in runtime/c/core/rings.c.
//
// A kind of target supplies a Command (how a process is started) and a Program (how places and
// objects are named, what an outcome means).
package ipc
