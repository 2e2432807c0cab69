// kind: clean

// Package registerafterclose looks whether the hub is closed and adds a handler in one critical
// section.
package registerafterclose

import "sync"

// Hub calls its handlers when it is closed.
type Hub struct {
	mu       sync.Mutex
	closed   bool
	handlers []func()
}

func (h *Hub) register(f func()) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	h.handlers = append(h.handlers, f)
	return true
}

// OnClose has f called when the hub is closed.
func (h *Hub) OnClose(f func()) {
	if !h.register(f) {
		f()
	}
}

// Close calls the handlers.
func (h *Hub) Close() {
	h.mu.Lock()
	h.closed = true
	all := h.handlers
	h.mu.Unlock()
	for _, f := range all {
		f()
	}
}
