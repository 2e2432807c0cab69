// kind: data race|test failure

// Package atomicmixedplain adds to a counter atomically and resets it by a plain store.
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
	n := atomic.LoadInt64(&m.count)
	m.count = 0
	return n
}

// cause: count: atomic.AddInt64 | m.count = 0
