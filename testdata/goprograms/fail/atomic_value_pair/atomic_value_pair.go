// heddle: kind=fail text="key of version" switches=2

// Package atomicvaluepair keeps a key and its version in two atomic values that are replaced
// one after the other.
//
// Fewest switches: a reader between the two stores sees a new key with an old version. If the
// test's goroutine is the writer, it is left once and may not go on before the reader
// compares, but the comparison is its own: two switches. If it were the reader, the writer's
// second store comes between its loads: two as well.
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
