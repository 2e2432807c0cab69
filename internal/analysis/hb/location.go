package hb

import "github.com/heddle-dev/heddle/trace"

// locations are what atomics released to the bytes of memory. Atomics of different sizes may overlap: a
// load takes what the latest writes of its bytes released, and a write replaces the releases to its own
// bytes only.
type locations map[uint64][]*part // by granule of 8 bytes

// part is the state of some bytes of a granule. The masks of a granule's parts are disjoint.
type part struct {
	mask uint8
	released
}

// granules calls f with the granules of an event's location and the bytes of each that it occupies. An event
// without a size is about the bytes that the latest atomic at its address had, or about one byte.
func (l locations) granules(ev *trace.Event, f func(granule uint64, mask uint8)) {
	lo, size := ev.Object.Bytes(uint64(ev.Size))
	if size == 0 {
		mask := uint8(1) << (lo & 7)
		for _, p := range l[lo>>3] {
			if p.mask&mask != 0 {
				mask = p.mask
				break
			}
		}
		f(lo>>3, mask)
		return
	}
	for hi := lo + size; lo < hi; {
		end := min(hi, lo&^7+8)
		f(lo>>3, uint8(0xff)>>(8-(end-lo))<<(lo&7))
		lo = end
	}
}

// read calls f with what was released to the event's bytes.
func (l locations) read(ev *trace.Event, f func(*released)) {
	if len(l) == 0 {
		return
	}
	l.granules(ev, func(granule uint64, mask uint8) {
		for _, p := range l[granule] {
			if p.mask&mask != 0 {
				f(&p.released)
			}
		}
	})
}

// write calls f with what was released to the event's bytes, for f to add to or to replace.
func (l locations) write(ev *trace.Event, f func(*released)) {
	l.granules(ev, func(granule uint64, mask uint8) { f(&l.part(granule, mask).released) })
}

// join makes what was released to any of the bytes that a read-modify-write reads the release of all that it
// writes.
func (l locations) join(ev *trace.Event) {
	any := false
	l.read(ev, func(*released) { any = true })
	if !any {
		return
	}
	var all *released
	l.write(ev, func(at *released) {
		if all != nil && !all.clock.empty() {
			at.publish(&all.clock, all.by)
		}
		all = at
	})
	l.write(ev, func(at *released) {
		if at != all {
			at.replace(&all.clock, all.by)
		}
	})
}

// part returns the part with just these bytes of a granule. A new one has the releases to all of them.
func (l locations) part(granule uint64, mask uint8) *part {
	parts := l[granule]
	for _, p := range parts {
		if p.mask == mask {
			return p
		}
	}
	fresh, kept := &part{mask: mask}, parts[:0]
	for _, p := range parts {
		if p.mask&mask != 0 && !p.clock.empty() {
			fresh.publish(&p.clock, p.by)
		}
		if p.mask &^= mask; p.mask != 0 {
			kept = append(kept, p)
		}
	}
	l[granule] = append(kept, fresh)
	return fresh
}
