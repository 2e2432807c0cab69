//go:build heddle

package maps

import "unsafe"

// heddleWriting stops the goroutine in the middle of writing the map m, which has noticed no other
// writer so far (runtime, heddle_access.go).
//
//go:linkname heddleWriting runtime.hdMapWriting
func heddleWriting(m unsafe.Pointer)
