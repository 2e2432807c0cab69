// kind: data race|test failure

// Package atomicpublication publishes a configuration through an atomic pointer and fills in a
// field afterwards.
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
	h.current.Store(c)
	c.port = port
}

// Address is the configured address, empty until one is set.
func (h *Holder) Address() string {
	c := h.current.Load()
	if c == nil {
		return ""
	}
	return fmt.Sprintf("%s:%d", c.host, c.port)
}

// cause: port: c.port = port | return fmt.Sprintf
