// Package ipc is what every kind of target shares: the shared memory between controller
// and program, the two rings in it, how plans are written and records read, the start of a
// process, and the loop that feeds plans and watches over the program. The layout is
// internal/abi's; the C side of each barrier here is in runtime/c/core/rings.c.
//
// What differs from one kind of target to another is said by a Command (how a process is
// started) and a Program (how places and objects are named, what an ending means).
package ipc
