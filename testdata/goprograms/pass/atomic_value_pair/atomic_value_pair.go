// kind: clean

// Package atomicvaluepair keeps a key and its version in one atomic value.
package atomicvaluepair

import "sync/atomic"

type entry struct {
	key     string
	version int32
}

// Keys has the current key and its version.
type Keys struct {
	current atomic.Value // entry
}

// Set replaces both.
func (k *Keys) Set(key string, version int32) {
	k.current.Store(entry{key, version})
}

// Get returns both.
func (k *Keys) Get() (string, int32) {
	e := k.current.Load().(entry)
	return e.key, e.version
}
