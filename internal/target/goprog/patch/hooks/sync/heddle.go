//go:build heddle

package sync

import "unsafe"

// heddlePoint stops the goroutine before an operation of this package (runtime,
// heddle_sync.go). The numbers are those of heddle_abi.h.
//
//go:linkname heddlePoint runtime.hdSyncPoint
//go:noescape
func heddlePoint(op uint16, obj unsafe.Pointer, value int64)
