// kind: goroutine leak
// finding: sweep

// Package finalizerleak keeps a goroutine for each cache, which nothing ever ends.
package finalizerleak

// Cache counts its entries.
type Cache struct{ *state }

type state struct {
	stop chan struct{}
	n    int
}

// New makes a cache, with a goroutine that waits for its end.
func New() *Cache {
	s := &state{stop: make(chan struct{})}
	go s.sweep()
	c := &Cache{s}
	return c
}

func (s *state) sweep() { <-s.stop }

// Put counts.
func (c *Cache) Put() int { c.n++; return c.n }

// cause: none
