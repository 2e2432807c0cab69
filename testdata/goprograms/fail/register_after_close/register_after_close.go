// kind: deadlock
// finding: TestHub

// Package registerafterclose checks that the hub is open before it adds a handler. If the hub is
// closed in between, the handler is never called.
package registerafterclose

import "sync"

// Hub calls its handlers when it is closed.
type Hub struct {
	mu       sync.Mutex
	closed   bool
	handlers []func()
}

func (h *Hub) isClosed() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.closed
}

// OnClose has f called when the hub is closed.
func (h *Hub) OnClose(f func()) {
	if h.isClosed() {
		f()
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.handlers = append(h.handlers, f)
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

// cause: : h.handlers = append(h.handlers, f) | all := h.handlers
