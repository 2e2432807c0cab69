// kind: clean

// Package atomicmixedplain adds to a counter and resets it atomically.
package atomicmixedplain

import "sync/atomic"

// Meter counts requests between two reports.
type Meter struct {
	count int64
}

// Add counts n requests.
func (m *Meter) Add(n int64) { atomic.AddInt64(&m.count, n) }

// Report returns the count and begins again.
func (m *Meter) Report() int64 {
	return atomic.SwapInt64(&m.count, 0)
}
