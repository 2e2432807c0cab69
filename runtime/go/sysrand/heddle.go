//go:build heddle

package sysrand

import _ "unsafe" // for go:linkname

// heddleFill is implemented in the runtime: random bytes that are the same in every execution.
//
//go:linkname heddleFill runtime.hdFill
func heddleFill(b []byte) bool

// HeddleFill is heddleFill for the generator of FIPS mode, which has a state from execution to execution, and takes its
// entropy from the time that the processor needs.
func HeddleFill(b []byte) bool { return heddleFill(b) }
