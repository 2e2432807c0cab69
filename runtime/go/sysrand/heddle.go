//go:build heddle

package sysrand

import _ "unsafe" // for go:linkname

// heddleFill is implemented in the runtime: random bytes that are the same in every execution.
//
//go:linkname heddleFill runtime.hdFill
func heddleFill(b []byte) bool
