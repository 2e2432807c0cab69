package reversible

import (
	"slices"

	"github.com/heddle-dev/heddle/internal/analysis/depend"
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// Kinds of edges, as kinds of depend's graph. A necessary edge holds in every feasible reordering. A
// dependence is what a reordering may reverse. An implied edge holds wherever the
// dependence added with it does.
const (
	necessary  = depend.Signal
	dependence = depend.Conflict
	implied    = depend.Barrier
)

func isDependence(k depend.Kind) bool { return k == dependence }

func isNecessary(k depend.Kind) bool { return k == necessary || k == depend.Life }

// move is what an event does to a lock or semaphore.
type move struct {
	kind   moveKind
	object int32 // index of the lock or semaphore
	// shows: the event cannot block, because it tells the thread that it would.
	shows bool
}

type moveKind uint8

const (
	noMove moveKind = iota
	lock
	lockShared
	unlock
	unlockShared
	up
	down
)

// semaphore is a semaphore between two initialisations.
type semaphore struct {
	initial int
	ups     []int32 // events
	downs   []int32
	posts   []uint64 // tokens of the ups
	taken   map[trace.ThreadID]int
	// oneDown: all downs are of one thread.
	oneDown bool
}

// model is a trace as the package comment describes it.
type model struct {
	t       *trace.Trace
	g       *depend.Graph
	clocks  *depend.Clocks
	of      [][]int32 // events of each thread number
	nth     []int32   // number of each event in its thread
	moves   []move    // of each event
	locks   int
	sems    []semaphore
	inexact []bool // events that are not modelled
	strange map[string]int

	nested       map[int32]int32 // events that acquire a lock again that the thread shares, and the lock
	writersFirst map[int32]bool  // locks whose waiting writers keep readers out
	chans        map[trace.Object]*channel
}

// aspect is what of an object a dependence is about.
type aspect uint32

const (
	state     aspect = iota // what its operations show of it
	life                    // its initialisation
	execution               // no object: the end of the execution, and events that are not modelled
	sends                   // of a channel: which goroutine sends next
	receives                // and which receives next
	waiter                  // the first of those of a sync.WaitGroup, one for each goroutine that waits for it
)

type aspectOf struct {
	at   trace.Object
	what aspect
}

// heapBase is the first number of the bytes of heap blocks: no region has numbers as large.
const heapBase = uint64(0xf) << 60

// scan collects what has to be known about the objects of the trace before it is compiled.
type scan struct {
	shown   map[trace.Object]bool                    // locks and semaphores of which an event shows the state
	posts   map[trace.Object]map[trace.ThreadID]bool // threads that post a semaphore
	signals map[trace.Object]bool                    // conditions that are signalled, rather than broadcast
	users   map[trace.Object]map[trace.ThreadID]bool // threads at a barrier
	size    map[trace.Object]uint64                  // of a barrier; 0 if it changes
	goScan
}

// shows reports whether an operation tells its thread the state of a lock or semaphore.
func shows(spec *ops.Spec, ev *trace.Event) bool {
	switch spec.Does {
	case ops.Inspect:
		return true
	case ops.Acquire, ops.AcquireShared, ops.Down:
		return spec.Blocks == ops.Never || spec.Deadline
	}
	return false
}

func scanned(t *trace.Trace) *scan {
	s := &scan{map[trace.Object]bool{}, map[trace.Object]map[trace.ThreadID]bool{}, map[trace.Object]bool{}, map[trace.Object]map[trace.ThreadID]bool{}, map[trace.Object]uint64{}, scannedGo(t)}
	for i := range t.Events {
		ev := &t.Events[i]
		spec := ops.Of(ev.Op)
		switch {
		case shows(spec, ev):
			s.shown[ev.Object] = true
		case spec.Does == ops.Up:
			if s.posts[ev.Object] == nil {
				s.posts[ev.Object] = map[trace.ThreadID]bool{}
			}
			s.posts[ev.Object][ev.Thread] = true
		case spec.Does == ops.WakeOne:
			s.signals[ev.Object] = true
		case spec.Does == ops.Init && spec.Of == ops.Barrier:
			if n, ok := s.size[ev.Object]; ok && n != ev.Value {
				s.size[ev.Object] = 0
			} else {
				s.size[ev.Object] = ev.Value
			}
		case spec.Does == ops.Arrive:
			if s.users[ev.Object] == nil {
				s.users[ev.Object] = map[trace.ThreadID]bool{}
			}
			s.users[ev.Object][ev.Thread] = true
		}
	}
	return s
}

// held is a thread's hold of a lock.
type held struct {
	depth  int
	shared bool
}

type holdKey struct {
	thread trace.ThreadID
	lock   trace.Object
}

type barrier struct {
	arrived []uint64 // tokens of the generation
	last    map[trace.ThreadID][]uint64
}

// block is a heap block, live or not yet reused.
type block struct {
	from, to uint64 // bytes, as trace.Object.Bytes numbers them
	base     uint64
	token    uint64 // of the allocation
	library  bool   // allocated by libgomp
}

// compiler turns a trace into a model.
type compiler struct {
	*model
	*scan
	b      *depend.Builder
	i      int32
	ev     *trace.Event
	tokens uint64
	keys   map[aspectOf]uint64

	holds      map[holdKey]held
	waits      map[trace.ThreadID]int // depth of the mutex that the thread's condition wait released
	lockOf     map[trace.Object]int32
	semOf      map[trace.Object]int32
	barriers   map[trace.Object]*barrier
	woken      map[trace.ThreadID]uint64 // token of the signal
	broadcasts map[trace.Object]uint64
	onces      map[trace.Object]uint64
	announced  map[trace.Object]bool // reader-writer locks whose waiting writers keep readers out
	blocks     []block               // by address
	next       uint64                // base of the next block
	goroutines
	openMP
}

// compile returns the model of a trace.
func compile(t *trace.Trace) *model {
	n := len(t.Events)
	c := &compiler{
		model: &model{t: t, nth: make([]int32, n), moves: make([]move, n), inexact: make([]bool, n), strange: map[string]int{}, nested: map[int32]int32{}, writersFirst: map[int32]bool{}},
		scan:  scanned(t), b: depend.NewBuilder(n),
		holds: map[holdKey]held{}, waits: map[trace.ThreadID]int{}, lockOf: map[trace.Object]int32{}, semOf: map[trace.Object]int32{},
		barriers: map[trace.Object]*barrier{}, woken: map[trace.ThreadID]uint64{}, broadcasts: map[trace.Object]uint64{}, onces: map[trace.Object]uint64{}, announced: map[trace.Object]bool{},
		keys: map[aspectOf]uint64{}, next: heapBase, goroutines: newGoroutines(), openMP: newOpenMP(t),
	}
	for i := range t.Events {
		c.i, c.ev = int32(i), &t.Events[i]
		c.b.Begin(int32(c.ev.Thread), false)
		c.event()
	}
	c.g = c.b.Graph()
	c.of = make([][]int32, c.g.Threads())
	for i := range c.nth {
		u := c.g.Thread[i]
		c.nth[i] = int32(len(c.of[u]))
		c.of[u] = append(c.of[u], int32(i))
	}
	c.clocks = c.g.Clocks()
	c.model.chans = c.scan.chans
	for i := range c.sems {
		s := &c.sems[i]
		s.oneDown = c.ofOneThread(s.downs)
	}
	return c.model
}

func (m *model) ofOneThread(events []int32) bool {
	return !slices.ContainsFunc(events, func(e int32) bool { return m.g.Thread[e] != m.g.Thread[events[0]] })
}

func (c *compiler) token() uint64 { c.tokens++; return c.tokens }

func (c *compiler) effect(m depend.Mode, k depend.Kind, addr, size uint64) {
	c.b.Effect(depend.Effect{Mode: m, Kind: k, Addr: addr, Size: size})
}

func (c *compiler) take(tok uint64) { c.effect(depend.Take, necessary, tok, 1) }
func (c *compiler) post() uint64 {
	tok := c.token()
	c.effect(depend.Post, necessary, tok, 1)
	return tok
}
func (c *compiler) change(at trace.Object, a aspect) {
	c.effect(depend.Change, dependence, c.key(at, a), 1)
}
func (c *compiler) observe(at trace.Object, a aspect) {
	c.effect(depend.Observe, dependence, c.key(at, a), 1)
}

// key numbers the aspects of objects.
func (c *compiler) key(at trace.Object, a aspect) uint64 {
	k, ok := c.keys[aspectOf{at, a}]
	if !ok {
		k = uint64(len(c.keys))
		c.keys[aspectOf{at, a}] = k
	}
	return k
}

// event adds the effects of an event, the necessary ones first: the graph drops an edge that another
// one from a later event of the same thread implies.
func (c *compiler) event() {
	ev := c.ev
	spec := ops.Of(ev.Op)
	switch {
	case spec.Of == ops.SyncVar && c.t.Header.Target != "go":
		c.order()
		return
	case ev.Op >= trace.OpGo:
		c.goroutine(spec)
		return
	case c.ofChannel():
		return
	case c.ofLibrary(spec): // which may be waiting for work when the program ends
		return
	}
	done := spec.Done(ev)
	switch spec.Does {
	case ops.Start, ops.Finish, ops.Exit, ops.Fence:
		return
	case ops.None:
		if ev.Op == trace.OpCancelTest && !done {
			c.unknown()
		}
		return
	case ops.Create:
		c.effect(depend.Create, depend.Life, ev.Value, 1)
	case ops.Join:
		if !done || ev.Size != 0 {
			c.unknown()
			return
		}
		c.effect(depend.Join, depend.Life, ev.Value, 1)
	case ops.Stop:
		c.change(0, execution)
		return
	case ops.Read, ops.AtomicRead:
		c.memory(false)
	case ops.Write, ops.AtomicWrite:
		c.memory(true)
	case ops.Exchange:
		c.memory(true)
	case ops.Compare:
		c.memory(done)
	case ops.Allocate:
		c.allocate()
	case ops.Free:
		c.memory(true)
	case ops.Init, ops.Destroy:
		c.initialise(spec)
	case ops.Acquire, ops.AcquireShared:
		if !done && !shows(spec, ev) || ev.Result == ops.OwnerDead || ev.Result == ops.NotRecoverable {
			c.unknown()
			return
		}
		if done {
			c.acquire(ev.Object, spec.Does == ops.AcquireShared, 1, shows(spec, ev))
		}
		c.show(ev.Object, shows(spec, ev))
	case ops.Release, ops.ReleaseShared:
		if spec.Of == ops.Once {
			c.onces[ev.Object] = c.post()
			break
		}
		if !done {
			c.unknown()
			return
		}
		c.release(ev.Object, false)
		c.show(ev.Object, false)
	case ops.Begin:
		c.once()
	case ops.Announce: // readers may pass, as POSIX lets them
		c.announced[ev.Object] = true
	case ops.Wait, ops.Resume, ops.WakeOne, ops.WakeAll:
		if spec.Of != ops.Condition || !done {
			c.unknown()
			return
		}
		c.condition(spec)
	case ops.Up, ops.Down, ops.Inspect:
		c.count(spec, done)
	case ops.Arrive, ops.Depart:
		c.barrier(spec)
	default:
		c.unknown()
		return
	}
	c.observe(0, execution)
}

// unknown adds the effects of an event that is not modelled.
func (c *compiler) unknown() {
	spec := ops.Of(c.ev.Op)
	switch spec.Does {
	case ops.Acquire, ops.AcquireShared: // the hold, which a later release ends
		if spec.Done(c.ev) {
			c.acquire(c.ev.Object, spec.Does == ops.AcquireShared, 1, true)
		}
	case ops.Wait, ops.Leave:
		if spec.Of == ops.Condition {
			c.waiting()
		}
	case ops.Resume:
		if spec.Of == ops.Condition {
			c.resumed(spec)
		}
	case ops.Abandon:
		c.release(c.ev.Object, true)
	}
	c.opaque()
}

// opaque makes an event dependent on every event of other threads.
func (c *compiler) opaque() {
	c.inexact[c.i] = true
	c.strange[c.ev.Op.String()]++
	c.change(0, execution)
}

// memory adds an access.
func (c *compiler) memory(write bool) {
	first, n := c.ev.Object.Bytes(uint64(max(c.ev.Size, 1)))
	if c.ev.Object.Region() == trace.RegionHeap {
		if b := c.blockAt(first); b != nil {
			c.take(b.token)
			first = b.base + (first - b.from)
		}
	}
	m := depend.Read
	if write {
		m = depend.Write
	}
	c.effect(m, dependence, first, n)
}

// blockAt returns the block at a byte, or nil.
func (c *compiler) blockAt(at uint64) *block {
	i, found := slices.BinarySearchFunc(c.blocks, at, func(b block, at uint64) int {
		switch {
		case b.to <= at:
			return -1
		case b.from > at:
			return 1
		}
		return 0
	})
	if !found {
		return nil
	}
	return &c.blocks[i]
}

// allocate replaces the blocks that had the memory of the event's block.
func (c *compiler) allocate() {
	from, n := c.ev.Object.Bytes(uint64(max(c.ev.Size, 1)))
	if c.ev.Object.Region() != trace.RegionHeap {
		return
	}
	b := block{from: from, to: from + n, base: c.next, token: c.post(), library: c.isLibrary(c.ev.Site.Module())}
	c.next += (n + 31) &^ 15
	lo, _ := slices.BinarySearchFunc(c.blocks, from, func(b block, at uint64) int {
		if b.to <= at {
			return -1
		}
		return 1
	})
	hi := lo
	for hi < len(c.blocks) && c.blocks[hi].from < b.to {
		hi++
	}
	c.blocks = slices.Replace(c.blocks, lo, hi, b)
}

// initialise begins a new object.
func (c *compiler) initialise(spec *ops.Spec) {
	at := c.ev.Object
	delete(c.lockOf, at)
	delete(c.semOf, at)
	delete(c.barriers, at)
	if spec.Of == ops.Semaphore && spec.Does == ops.Init {
		c.semOf[at] = int32(len(c.sems))
		c.sems = append(c.sems, semaphore{initial: int(c.ev.Value)})
	}
	c.change(at, life)
}

// show adds the dependences of an operation on a lock or semaphore.
func (c *compiler) show(at trace.Object, shows bool) {
	c.observe(at, life)
	switch {
	case shows:
		c.change(at, state)
	case c.shown[at]:
		c.observe(at, state)
	}
}

// acquire adds depth to the thread's hold. Only the outermost acquisition of a recursive lock is a move.
func (c *compiler) acquire(at trace.Object, shared bool, depth int, shows bool) {
	key := holdKey{c.ev.Thread, at}
	h := c.holds[key]
	if h.depth == 0 {
		id, ok := c.lockOf[at]
		if !ok {
			id = int32(c.locks)
			c.locks++
			c.lockOf[at] = id
		}
		kind := lock
		if shared {
			kind = lockShared
		}
		c.moves[c.i] = move{kind, id, shows}
		h.shared = shared
	} else if shared {
		c.nested[c.i] = c.lockOf[at]
	}
	if c.announced[at] {
		c.writersFirst[c.lockOf[at]] = true
	}
	h.depth += depth
	c.holds[key] = h
}

// release ends the thread's hold, or lowers its depth by one, and returns the depth before.
func (c *compiler) release(at trace.Object, whole bool) int {
	key := holdKey{c.ev.Thread, at}
	h := c.holds[key]
	before := h.depth
	if before == 0 {
		return 0
	}
	if h.depth--; whole {
		h.depth = 0
	}
	if h.depth > 0 {
		c.holds[key] = h
		return before
	}
	delete(c.holds, key)
	kind := unlock
	if h.shared {
		kind = unlockShared
	}
	if id, ok := c.lockOf[at]; ok {
		c.moves[c.i] = move{kind, id, false}
	}
	return before
}

func (c *compiler) once() {
	at := c.ev.Object
	if c.ev.Value == 1 {
		c.change(at, state)
		return
	}
	c.observe(at, state)
	if tok, ok := c.onces[at]; ok {
		// Before the function was begun, the thread would have run it instead of waiting.
		c.effect(depend.Take, implied, tok, 1)
	}
}

// waiting releases the mutex of a condition wait.
func (c *compiler) waiting() {
	if ops.Does(c.ev.Op) == ops.Wait {
		c.waits[c.ev.Thread] = c.release(trace.Object(c.ev.Aux), true)
	}
}

// resumed acquires it again.
func (c *compiler) resumed(spec *ops.Spec) {
	if spec.Done(c.ev) {
		c.acquire(trace.Object(c.ev.Aux), false, max(1, c.waits[c.ev.Thread]), false)
	}
}

func (c *compiler) condition(spec *ops.Spec) {
	at := c.ev.Object
	switch spec.Does {
	case ops.Wait:
		delete(c.woken, c.ev.Thread)
		c.waiting()
		if c.signals[at] {
			c.change(at, state)
		} else {
			c.observe(at, state)
		}
	case ops.Resume:
		if c.ev.Result != 0 {
			c.unknown()
			return
		}
		tok, ok := c.woken[c.ev.Thread]
		if !ok {
			tok, ok = c.broadcasts[at]
		}
		if !ok {
			c.unknown()
			return
		}
		c.take(tok)
		delete(c.woken, c.ev.Thread)
		c.resumed(spec)
		c.show(trace.Object(c.ev.Aux), false)
	case ops.WakeOne:
		tok := c.post()
		if c.ev.Value > 0 {
			c.woken[trace.ThreadID(c.ev.Value-1)] = tok
		}
		c.change(at, state)
	case ops.WakeAll:
		c.broadcasts[at] = c.post()
		c.change(at, state)
	}
	c.observe(at, life)
}

func (c *compiler) count(spec *ops.Spec, done bool) {
	at := c.ev.Object
	tells := shows(spec, c.ev)
	if !done && !tells {
		c.unknown()
		return
	}
	if done && spec.Does != ops.Inspect {
		id, ok := c.semOf[at]
		if !ok {
			before := int(c.ev.Value) + 1
			if spec.Does == ops.Up {
				before -= 2
			}
			id = int32(len(c.sems))
			c.semOf[at] = id
			c.sems = append(c.sems, semaphore{initial: max(0, before)})
		}
		s := &c.sems[id]
		if spec.Does == ops.Up {
			c.moves[c.i] = move{up, id, false}
			s.ups = append(s.ups, c.i)
			s.posts = append(s.posts, c.post())
		} else {
			if s.taken == nil {
				s.taken = map[trace.ThreadID]int{}
			}
			s.taken[c.ev.Thread]++
			if n := s.taken[c.ev.Thread] - s.initial; !tells && len(c.posts[at]) == 1 && n > 0 && n <= len(s.posts) {
				c.take(s.posts[n-1]) // one thread posts, so the n-th post is necessary
			}
			c.moves[c.i] = move{down, id, tells}
			s.downs = append(s.downs, c.i)
		}
	}
	c.show(at, tells)
}

func (c *compiler) barrier(spec *ops.Spec) {
	at := c.ev.Object
	size := c.size[at]
	if size == 0 {
		c.unknown()
		return
	}
	b := c.barriers[at]
	if b == nil {
		b = &barrier{last: map[trace.ThreadID][]uint64{}}
		c.barriers[at] = b
	}
	if spec.Does == ops.Depart {
		for _, tok := range b.last[c.ev.Thread] {
			c.take(tok)
		}
		delete(b.last, c.ev.Thread)
		c.observe(at, life)
		return
	}
	b.arrived = append(b.arrived, c.post())
	b.last[c.ev.Thread] = nil
	if uint64(len(b.arrived)) == size {
		for t, toks := range b.last {
			if toks == nil {
				b.last[t] = b.arrived
			}
		}
		b.arrived = nil
	}
	if uint64(len(c.users[at])) != size {
		c.change(at, state)
	}
	c.observe(at, life)
}
