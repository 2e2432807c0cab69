package atomicity

import (
	"slices"

	"github.com/heddle-dev/heddle/trace"
)

// cell has what the threads did to one granule of memory in one life of the memory. Accesses that
// agree in all that decides which interleavings are feasible are kept once, and so are pairs of them.
type cell struct {
	lives    int
	accesses []seen
	pairs    []pair
	latest   []latest
	past     []former
}

// access is an event that accesses memory.
type access struct {
	statement int32
	thread    trace.ThreadID
	segment   int32
	set       int32 // of locks
	event     int
	time      uint64
	held      []*hold
	size      uint32
	stack     uint32
}

// seen stands for all accesses with the same statement, thread, segment, locks and bytes.
type seen struct {
	access       // the first of them
	mask   uint8 // bytes
	last   int   // event of the last of them
	count  int
}

// pair stands for the accesses p and c that a thread made one after the other, alike as in seen, and
// with the same locks held throughout.
type pair struct {
	p, c  int // indices into accesses
	both  int32
	mask  uint8 // bytes that both accessed
	count int
	gap   uint64
	after int // event of the last c
	outer trace.Site
	// guarded has, for each lock that p and c held in two critical sections, the summed time from
	// the end of p's to the beginning of c's.
	guarded []guarded
}

type guarded struct {
	lock lock
	gap  uint64
}

// latest is a thread's last access to some bytes of the granule.
type latest struct {
	access
	index int // into accesses
	mask  uint8
}

// former is a statement of an earlier life. p is -1 for an access, and otherwise c's predecessor.
type former struct {
	p, c   int32
	thread trace.ThreadID
	mask   uint8
	life   int
}

const (
	// A cell with more accesses than crowded no longer tells segments apart, so it prunes less.
	crowded = 256
	unknown = -1 // the segment of such an access
	// An access or a pair that has occurred more often than near is not measured for distance.
	near = 8
	// A cell remembers as many statements of earlier lives as formers.
	formers = 64
)

// access adds an access to some bytes of the granule.
func (c *cell) access(r *run, a access, mask uint8) {
	if len(c.accesses) > crowded {
		a.segment = unknown
	}
	now := c.find(a, mask)
	for i := 0; i < len(c.latest); i++ {
		l := &c.latest[i]
		if l.thread != a.thread || l.mask&mask == 0 {
			continue
		}
		c.pair(r, l, &a, now, l.mask&mask)
		if l.mask &^= mask; l.mask == 0 {
			c.latest = slices.Delete(c.latest, i, i+1)
			i--
		}
	}
	c.latest = append(c.latest, latest{access: a, index: now, mask: mask})
	x := &c.accesses[now]
	x.last = a.event
	if x.count++; x.count > near {
		return
	}
	for i := range c.pairs {
		if p := &c.pairs[i]; p.count > 0 && p.mask&mask != 0 && c.accesses[p.p].thread != a.thread {
			r.distance(triple{c.accesses[p.p].statement, c.accesses[p.c].statement, a.statement}, uint64(a.event-p.after))
		}
	}
}

// find returns the index of what stands for an access.
func (c *cell) find(a access, mask uint8) int {
	for i := range c.accesses {
		if s := &c.accesses[i]; s.statement == a.statement && s.thread == a.thread && s.segment == a.segment && s.set == a.set && s.mask == mask {
			return i
		}
	}
	c.accesses = append(c.accesses, seen{access: a, mask: mask})
	return len(c.accesses) - 1
}

// pair adds p, the thread's last access to some bytes, and c, the current one.
func (c *cell) pair(r *run, p *latest, a *access, now int, mask uint8) {
	both := int32(0)
	if p.set != 0 && a.set != 0 {
		var same []*hold
		for _, h := range p.held {
			if slices.Contains(a.held, h) {
				same = append(same, h)
			}
		}
		both = r.set(same)
	}
	x := c.pairOf(p.index, now, both, mask)
	x.count++
	x.after = a.event
	x.gap += a.time - p.time
	if p.set != 0 && a.set != 0 {
		x.guard(p.held, a.held)
	}
	if x.count == 1 {
		for _, h := range a.held {
			if !slices.Contains(p.held, h) {
				x.outer = h.site
				break
			}
		}
	}
	for i := range c.accesses {
		s := &c.accesses[i]
		if s.thread == a.thread || s.count == 0 || s.mask&mask == 0 {
			continue
		}
		t := triple{p.statement, a.statement, s.statement}
		switch {
		case s.last > p.event:
			r.exercised(t)
		case x.count <= near:
			r.distance(t, uint64(p.event-s.last))
		}
	}
}

// pairOf returns the pair that stands for accesses p and c.
func (c *cell) pairOf(p, now int, both int32, mask uint8) *pair {
	for i := range c.pairs {
		if x := &c.pairs[i]; x.p == p && x.c == now && x.both == both && x.mask == mask {
			return x
		}
	}
	c.pairs = append(c.pairs, pair{p: p, c: now, both: both, mask: mask})
	return &c.pairs[len(c.pairs)-1]
}

// guard measures the gaps between critical sections of one lock.
func (x *pair) guard(p, c []*hold) {
	for _, h := range c {
		for _, g := range p {
			if g.lock.number != h.lock.number || g == h || g.released == 0 {
				continue
			}
			i := slices.IndexFunc(x.guarded, func(y guarded) bool { return y.lock.number == h.lock.number })
			if i < 0 {
				i = len(x.guarded)
				x.guarded = append(x.guarded, guarded{lock: h.lock})
			}
			x.guarded[i].gap += h.acquired - g.released
		}
	}
}

// gapFor returns the pair's summed gap as far as a remote access with a set of locks could fall
// into it.
func (x *pair) gapFor(locks []lock) uint64 {
	gap := x.gap
	for _, g := range x.guarded {
		if slices.ContainsFunc(locks, g.lock.excludes) {
			gap = min(gap, g.gap)
		}
	}
	return gap
}

// renew evaluates the accesses so far and forgets them.
func (c *cell) renew(r *run) {
	c.evaluate(r)
	for i := range c.accesses {
		c.remember(former{-1, c.accesses[i].statement, c.accesses[i].thread, c.accesses[i].mask, c.lives})
	}
	for i := range c.pairs {
		x := &c.pairs[i]
		c.remember(former{c.accesses[x.p].statement, c.accesses[x.c].statement, c.accesses[x.c].thread, x.mask, c.lives})
	}
	c.lives++
	c.accesses, c.pairs, c.latest = nil, nil, nil
}

func (c *cell) remember(f former) {
	if len(c.past) < formers && !slices.Contains(c.past, f) {
		c.past = append(c.past, f)
	}
}

// evaluate decides, for each pair and each access of another thread, whether the access could occur
// within the pair.
func (c *cell) evaluate(r *run) {
	for i := range c.pairs {
		x := &c.pairs[i]
		p, cur := &c.accesses[x.p], &c.accesses[x.c]
		counted := map[triple]bool{}
		for j := range c.accesses {
			s := &c.accesses[j]
			if s.thread == p.thread || s.mask&x.mask == 0 {
				continue
			}
			t := triple{p.statement, cur.statement, s.statement}
			e := r.profile.potential(t)
			if e == nil {
				continue
			}
			switch {
			case r.before(s.segment, p.segment), r.before(cur.segment, s.segment):
				e.Pruned |= ByOrder
			case r.exclusive(x.both, s.set):
				e.Pruned |= ByExclusion
			default:
				if !e.Feasible {
					e.Feasible = true
					e.Witness = [3]trace.Access{r.witness(&p.access), r.witness(&cur.access), r.witness(&s.access)}
					e.Outer[0] = x.outer
					if len(s.held) > 0 {
						e.Outer[1] = s.held[0].site
					}
				}
				if !counted[t] {
					counted[t] = true
					e.Gap += x.gapFor(r.members[s.set])
					e.Instances += x.count
				}
			}
		}
	}
	c.conflicts(r)
	c.crossLives(r)
}

// conflicts adds the pairs of accesses that may race.
func (c *cell) conflicts(r *run) {
	for i := range c.accesses {
		a := &c.accesses[i]
		for j := range c.accesses[:i] {
			b := &c.accesses[j]
			if a.thread == b.thread || a.mask&b.mask == 0 {
				continue
			}
			key := [2]int32{min(a.statement, b.statement), max(a.statement, b.statement)}
			if r.profile.conflicts[key] {
				continue
			}
			x, y := r.profile.statements[key[0]], r.profile.statements[key[1]]
			if (x.Effect|y.Effect)&Writes == 0 || !x.plain() && !y.plain() || r.before(a.segment, b.segment) || r.before(b.segment, a.segment) || r.exclusive(a.set, b.set) {
				continue
			}
			r.profile.conflicts[key] = true
			r.profile.unordered = append(r.profile.unordered, [2]Statement{x, y})
		}
	}
}

// crossLives adds the interleavings whose accesses were never in one life of the memory.
func (c *cell) crossLives(r *run) {
	add := func(p, cur, remote int32) {
		if e := r.profile.potential(triple{p, cur, remote}); e != nil {
			e.Pruned |= ByLifetime
		}
	}
	for _, f := range c.past {
		if f.p >= 0 {
			for i := range c.accesses {
				if s := &c.accesses[i]; s.thread != f.thread && s.mask&f.mask != 0 {
					add(f.p, f.c, s.statement)
				}
			}
			continue
		}
		for i := range c.pairs {
			if x := &c.pairs[i]; c.accesses[x.p].thread != f.thread && x.mask&f.mask != 0 {
				add(c.accesses[x.p].statement, c.accesses[x.c].statement, f.c)
			}
		}
	}
}

func (r *run) witness(a *access) trace.Access {
	e := &r.trace.Events[a.event]
	return trace.Access{Thread: a.thread, Op: e.Op, Site: e.Site, Object: e.Object, Size: a.size, Stack: a.stack}
}

// exercised records that a triple occurred.
func (r *run) exercised(t triple) {
	if e := r.profile.potential(t); e != nil && e.run != r.profile.runs {
		e.run = r.profile.runs
		if e.Exercised++; e.Exercised == 1 {
			r.fresh++
		}
		e.Distance = 0
	}
}

// distance records how far a remote access was from p or c.
func (r *run) distance(t triple, events uint64) {
	if e := r.profile.potential(t); e != nil {
		e.Distance = min(e.Distance, events)
	}
}
