package ipc

import (
	"io/fs"
	"sync"
	"time"
)

// hashCache caches the hashes of files: a search records many executions, which all read the same
// files.
type hashCache struct {
	mu   sync.Mutex
	seen map[string]hashed
}

type hashed struct {
	size int64
	time time.Time
	hash string
}

func newHashCache() *hashCache { return &hashCache{seen: map[string]hashed{}} }

func (c *hashCache) get(path string, st fs.FileInfo, compute func() (string, bool)) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if h, ok := c.seen[path]; ok && h.size == st.Size() && h.time.Equal(st.ModTime()) {
		return h.hash, true
	}
	h, ok := compute()
	if ok {
		c.seen[path] = hashed{st.Size(), st.ModTime(), h}
	}
	return h, ok
}
