//go:build heddle

package sync

import "unsafe"

// heddlePoint stops the goroutine before an operation of this package (runtime,
// heddle_sync.go). The numbers are those of heddle_abi.h.
//
//go:linkname heddlePoint runtime.hdSyncPoint
//go:noescape
func heddlePoint(op uint16, obj unsafe.Pointer, value int64)

// heddlePool returns the address through which a Pool orders the passing on of p, nil for Go's own
// choice.
//
//go:linkname heddlePool runtime.hdPool
//go:noescape
func heddlePool(p unsafe.Pointer) unsafe.Pointer

// heddleRandn replaces runtime_randn, with which a Pool decides whether it drops a value.
//
//go:linkname heddleRandn runtime.hdPoolRandn
func heddleRandn(n uint32) uint32
