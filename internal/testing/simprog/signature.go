package simprog

// history is an object's part of the trace signature: a hash of the last operation that
// changed it, and of those since that only looked at it, in no order.
type history struct{ changed, looked uint64 }

// cover adds a thread's present operation on an object to the trace signature: which
// operation it is, and which conflicting ones came before. The sum does not depend on the
// order of operations that do not conflict, so equivalent executions have equal hashes.
func (x *execution) cover(t *Thread, h *history, changes bool) {
	id := mix(t.info.Name, t.steps, uint64(t.next.op), uint64(t.next.site), h.changed)
	if changes {
		id = mix(id, h.looked)
		h.changed, h.looked = id, 0
	} else {
		h.looked += id
	}
	x.outcome.Signature += id
}
