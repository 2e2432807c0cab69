// kind: clean

// Package atomicpublication publishes a configuration through an atomic pointer when it is
// complete.
package atomicpublication

import (
	"fmt"
	"sync/atomic"
)

// Config is not changed once it is published.
type Config struct {
	host string
	port int
}

// Holder has the current configuration.
type Holder struct {
	current atomic.Pointer[Config]
}

// Load publishes a configuration.
func (h *Holder) Load(host string, port int) {
	c := &Config{host: host}
	c.port = port
	h.current.Store(c)
}

// Address is the configured address, empty until one is set.
func (h *Holder) Address() string {
	c := h.current.Load()
	if c == nil {
		return ""
	}
	return fmt.Sprintf("%s:%d", c.host, c.port)
}
