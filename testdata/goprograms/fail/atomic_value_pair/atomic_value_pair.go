// kind: test failure
// finding: key of version
// minimum: switches=2

// Package atomicvaluepair keeps a key and its version in two atomic values that are replaced
// one after the other.
//
// Fewest switches: the test's goroutine, which creates the writer and reads, is left between
// its two loads, and the writer stores meanwhile: three intervals.
package atomicvaluepair

import "sync/atomic"

// Keys has the current key and its version.
type Keys struct {
	key     atomic.Value // string
	version atomic.Int32
}

// Set replaces both.
func (k *Keys) Set(key string, version int32) {
	k.key.Store(key)
	k.version.Store(version)
}

// Get returns both.
func (k *Keys) Get() (string, int32) {
	return k.key.Load().(string), k.version.Load()
}

// cause: : k.version.Store(version) | k.version.Load()
