package depend

// none ends a list and represents "no node".
const none = int32(-1)

// access records the uses of a location: the last write, and the reads since. An access depends on
// nothing older, because everything older comes before one of these.
type access struct {
	write int32 // node, or none
	reads int32 // index into reads.list, or none
	owner int32 // the thread that may change the head of reads in place
}

// reads holds the lists of reads of all locations. Lists may share their tails, so
// entries are never freed; a list is dropped as a whole when its location is written,
// which keeps the memory linear in the number of reads.
type reads struct {
	list   []read
	owners int32
}

type read struct {
	node  int32
	next  int32
	owner int32
}

func (r *reads) fresh() access {
	r.owners++
	return access{none, none, r.owners}
}

// share returns a copy of a for another location. From now on neither may change the entries that
// they share.
func (r *reads) share(a *access) access {
	b := *a
	a.owner = r.fresh().owner
	b.owner = r.fresh().owner
	return b
}

// read makes the current node read a location.
func (b *Builder) read(a *access, k Kind) {
	n := b.node()
	if a.write != none {
		b.depends(a.write, k)
	}
	if h := a.reads; h != none {
		e := &b.reads.list[h]
		if e.node == n {
			return
		}
		if e.owner == a.owner && b.g.Thread[e.node] == b.g.Thread[n] {
			e.node = n // program order covers the older one
			return
		}
	}
	b.reads.list = append(b.reads.list, read{n, a.reads, a.owner})
	a.reads = int32(len(b.reads.list) - 1)
}

// write makes the current node write a location. If there were reads since the last write, that
// write came before them.
func (b *Builder) write(a *access, k Kind) {
	if a.reads == none && a.write != none {
		b.depends(a.write, k)
	}
	for h := a.reads; h != none; h = b.reads.list[h].next {
		b.depends(b.reads.list[h].node, k)
	}
	a.write, a.reads = b.node(), none
}
