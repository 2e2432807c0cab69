// kind: panic|data race

// Package logaftertest logs to the test from a goroutine that the test does not wait for.
package logaftertest

type logger interface {
	Logf(format string, args ...any)
}

// Cache is filled in the background.
type Cache struct {
	log   logger
	ready chan struct{}
}

// NewCache begins to fill a cache.
func NewCache(log logger) *Cache {
	c := &Cache{log: log, ready: make(chan struct{})}
	go c.fill()
	return c
}

func (c *Cache) fill() {
	close(c.ready)
	c.log.Logf("cache is filled")
}

// Close waits until the cache can be dropped.
func (c *Cache) Close() {
	<-c.ready
}

// cause: : c.log.Logf
