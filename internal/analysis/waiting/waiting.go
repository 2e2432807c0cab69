package waiting

import (
	"cmp"
	"slices"
	"syscall"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// Wait is what a thread that repeats itself looks at again and again.
type Wait struct {
	Thread trace.ThreadID
	Op     trace.Op
	Site   trace.Site
	Object trace.Object
	Size   uint32
	// Alone says that only the thread itself changes the object, by what cancels out in each turn.
	Alone bool
	// Changing says that other threads change the object again and again.
	Changing bool
	// With is what else the thread reads in each turn, if only one thing is as likely what it waits for. Its Op is OpNone otherwise.
	With Look
}

// Look is a place where a thread looks at something.
type Look struct {
	Op     trace.Op
	Site   trace.Site
	Object trace.Object
	Size   uint32
}

// Verdict is what the events of an execution say about its end.
type Verdict struct {
	Kind trace.Kind // Hang, Livelock or Unfinished
	// From is the number of scheduling decisions before the threads begin to repeat themselves. Acted leaves out their states, which
	// are told in the fair phase only.
	From, Acted int
	// Decisions is how many were seen.
	Decisions int
	// Turns is the smallest number of turns that a thread made from there on.
	Turns int
	Waits []Wait // of each thread that repeats itself, by thread
	// Idle are threads that repeat themselves and look at nothing, as one that sleeps and serves, while others are blocked whom
	// they will never wake: their states recur.
	Idle []trace.ThreadID
	// Counting are threads that would repeat themselves but for their states, which do not recur, or, of one that runs alone, for
	// values that it reads and writes. Then the execution is unfinished.
	Counting []trace.ThreadID
	// Counted says that the thread counts in memory, and it is known that this does not end its loop.
	Counted bool
	// Outside says that a thread looks at memory that a child process may change. Then the execution is unfinished.
	Outside bool
}

// place is where a thread does something, and on what.
type place struct {
	op     trace.Op
	site   trace.Site
	object trace.Object
}

// act is what a thread does in an event.
type act struct {
	place
	value, aux uint64
	result     int32
}

// acts bounds the number of different acts of a thread that are remembered: a thread with more gets on.
const acts = 1 << 15

type thread struct {
	seen   map[act]int // the decision at which each act was last seen
	fresh  int         // the decision at which one was seen for the first time last
	events int         // since then
	last   int         // the decision at which it acted last
	sizes  map[place]uint32
	points map[trace.Site]bool // where scheduling decisions were made
	ended  bool
	over   bool // more acts or states than are remembered
	// shapes are the acts without the values by which it may count, with the decision at which each was last seen; shaped is the
	// one at which one was seen for the first time last, and turned how many events there were since then.
	shapes   map[act]int
	shaped   int
	turned   int
	shapeful bool // more shapes than are remembered
	// states are those that it was in at its points (trace.OpState), and newest is the decision before which one was new last.
	states map[uint64]bool
	newest int
	// outside is the decision at which it last accessed memory that it may share with a child process.
	outside int
	order   order
}

// Recogniser watches an execution (schedule.Watcher).
type Recogniser struct {
	from      int  // decisions before the ones to look at
	partly    bool // some accesses have no value (trace.FlagValue)
	forked    bool // there has been a child process
	stated    bool // the plan asks for the states of threads, and they tell what is on the stack
	states    bool // an event has told one
	decisions int
	threads   []*thread
	unseen    bool
	// own has the objects on threads' stacks that one thread alone has accessed.
	own map[trace.Object]trace.ThreadID
	// changed has for each object the decision at which each thread last changed it.
	changed map[trace.Object]map[trace.ThreadID]int
}

// New returns a recogniser that looks at an execution's events after so many scheduling decisions. states says that
// the plan asks for those of threads (schedule.Plan.States). Of h New needs the target.
func New(from int, h *trace.Header, states bool) *Recogniser {
	return &Recogniser{from: from, partly: h.Target == "go", stated: states && h.Target != "go"}
}

// Begin implements schedule.Watcher.
func (r *Recogniser) Begin(int64) { *r = Recogniser{from: r.from, partly: r.partly, stated: r.stated} }

// Unseen implements schedule.Watcher.
func (r *Recogniser) Unseen() { r.unseen = true }

// several stands in own for an object that more than one thread has accessed.
const several trace.ThreadID = -1

// Event implements schedule.Watcher.
func (r *Recogniser) Event(e *trace.Event) {
	if e.Flags&trace.FlagNoDecision == 0 {
		r.decisions++
	}
	for int(e.Thread) >= len(r.threads) {
		r.threads = append(r.threads, &thread{seen: map[act]int{}, shapes: map[act]int{}, sizes: map[place]uint32{}, points: map[trace.Site]bool{}})
	}
	t := r.threads[e.Thread]
	switch e.Op {
	case trace.OpThreadEnd:
		t.ended = true
	case trace.OpProcessStart:
		r.forked = true
	}
	if e.Object.Region() == trace.RegionStack {
		if by, ok := r.own[e.Object]; ok && by != e.Thread {
			r.own[e.Object] = several
		} else if !ok {
			if r.own == nil {
				r.own = map[trace.Object]trace.ThreadID{}
			}
			r.own[e.Object] = e.Thread
		}
	}
	if by, ok := r.own[e.Object]; !ok || by != e.Thread {
		t.order.event(e, r.decisions)
	}
	if r.decisions <= r.from {
		return
	}
	if e.Op == trace.OpState {
		t.state(e.Value, r.decisions)
		r.states = true
		return
	}
	if r.forked && ops.Of(e.Op).Of == ops.Memory && e.Object.Region() == trace.RegionOther {
		t.outside = r.decisions
	}
	a := actOf(e)
	if r.stated && r.private(e) {
		a.value, a.aux = 0, 0
	}
	// What is written without a value may be another one each time.
	unknown := r.partly && e.Flags&trace.FlagValue == 0 && ops.Of(e.Op).Does == ops.Write
	t.last = r.decisions
	if e.Flags&trace.FlagNoDecision == 0 {
		t.points[e.Site] = true
	}
	r.change(e)
	if s := a.shape(); !r.partly && !t.shapeful {
		if _, ok := t.shapes[s]; !ok || moves(e) {
			t.shapeful = len(t.shapes) == acts
			t.shaped, t.turned = r.decisions, 0
		}
		t.shapes[s] = r.decisions
		t.turned++
	}
	if _, ok := t.seen[a]; !ok || unknown || moves(e) {
		if len(t.seen) == acts {
			t.over = true
			return
		}
		t.fresh, t.events = r.decisions, 0
		t.sizes[a.place] = e.Size
	}
	t.seen[a] = r.decisions
	t.events++
}

// change notes what an event changes.
func (r *Recogniser) change(e *trace.Event) {
	if changes(e) {
		if r.changed == nil {
			r.changed = map[trace.Object]map[trace.ThreadID]int{}
		}
		by := r.changed[e.Object]
		if by == nil {
			by = map[trace.ThreadID]int{}
			r.changed[e.Object] = by
		}
		by[e.Thread] = r.decisions
	}
}

// private reports whether an event is an access to the thread's own stack where no other thread accesses it: the thread's state tells what
// is there, and tells times relative to now.
func (r *Recogniser) private(e *trace.Event) bool {
	return e.Object.Region() == trace.RegionStack && e.Object.Index() == int(e.Thread) && r.own[e.Object] == e.Thread && ops.Of(e.Op).Of == ops.Memory
}

func (t *thread) state(hash uint64, decision int) {
	switch {
	case t.states[hash]:
	case len(t.states) == acts:
		t.over = true
	default:
		if t.states == nil {
			t.states = map[uint64]bool{}
		}
		t.states[hash], t.newest = true, decision
	}
}

// Examine is the verdict on a recorded execution. It looks at the events after so many scheduling decisions.
func Examine(t *trace.Trace, from int) Verdict { return Examined(t, from).Verdict(&t.Ending) }

// Examined returns a recogniser that has seen a recorded execution.
func Examined(t *trace.Trace, from int) *Recogniser {
	r := New(from, &t.Header, false)
	for i := range t.Events {
		r.Event(&t.Events[i])
	}
	return r
}

// actOf returns what e does, without what may differ from turn to turn though nothing changes.
func actOf(e *trace.Event) act {
	a := act{place: place{e.Op, e.Site, e.Object}, value: e.Value, aux: e.Aux, result: e.Result}
	switch spec := ops.Of(e.Op); {
	case spec.Blocks == ops.UntilTime, spec.Does == ops.Sleep, e.Op == trace.OpYield && e.Object == 0, spec.Of == ops.Timer:
		a.value, a.aux = 0, 0
	case spec.Of == ops.Block:
		a.object = 0 // each block has a name of its own
	}
	return a
}

// shape is the act without the values by which a thread may count in memory.
func (a act) shape() act {
	switch ops.Of(a.op).Does {
	case ops.Read, ops.Write, ops.AtomicRead, ops.AtomicWrite, ops.Exchange:
		a.value, a.aux = 0, 0
	}
	return a
}

// changes reports whether an event leaves its object other than it was.
func changes(e *trace.Event) bool {
	switch ops.Of(e.Op).Does {
	case ops.Write, ops.AtomicWrite:
		return true
	case ops.Exchange:
		return e.Value != e.Aux
	case ops.Compare:
		return e.Result != 0
	}
	return false
}

// moves reports whether an event has changed how much there is to read or to write somewhere outside of the threads' memory.
func moves(e *trace.Event) bool {
	switch ops.Does(e.Op) {
	case ops.Receive, ops.Transmit:
		return e.Result == 0 && e.Value > 0
	case ops.Accept, ops.Connect, ops.Open, ops.Control:
		return e.Result == 0
	}
	return false
}

// attempt is the value of an event of Go in which a goroutine communicates if it can do so at once, and none is the value of the case
// that a select has chosen where it is the default.
const (
	attempt = 1
	none    = ^uint64(0)
)

// looks reports whether an act tells its thread something that another thread could change: it reads, or has tried in vain.
// mixed has the objects on which the threads perform more than one operation from there on.
func looks(a act, mixed map[trace.Object]bool) bool {
	switch ops.Of(a.op).Does {
	case ops.Read, ops.AtomicRead, ops.Exchange:
		return true
	case ops.Compare:
		return a.result == 0
	case ops.Acquire, ops.AcquireShared, ops.Down, ops.Resume, ops.Join, ops.Take:
		if a.op == trace.OpGmutexTrylock || a.op == trace.OpRwTrylock || a.op == trace.OpRwTryrlock {
			return !mixed[a.object] // otherwise the lock would be released
		}
		return a.result == int32(syscall.EBUSY) || a.result == int32(syscall.EAGAIN) || a.result == int32(syscall.ETIMEDOUT)
	case ops.Communicate:
		return a.value == attempt && !mixed[a.object] // no goroutine is at the other end of the channel
	case ops.Selected:
		return a.value == none
	case ops.Receive, ops.Accept:
		return a.result == int32(syscall.EAGAIN)
	case ops.Poll, ops.Inspect:
		return true // a poll may tell again and again of what the thread does not wait for
	}
	return a.op == trace.OpYield && a.object != 0 // a stretch of the same reads
}

// timer reports whether a thread of the trace stands for timers, which expire again and again.
func (t *thread) timer() bool {
	for a := range t.seen {
		if of := ops.Of(a.op).Of; of != ops.Timer && of != ops.SyncVar {
			return false
		}
	}
	return len(t.seen) > 0 && !t.ended
}

// settled is the share of the decisions, one in so many, in which threads may do something new.
const settled = 3

// Verdict returns the verdict on the execution, which ended so. The states of the threads in endless need not recur: it is known that
// what they count does not end their loops.
func (r *Recogniser) Verdict(end *trace.Ending, endless ...trace.ThreadID) Verdict {
	v := Verdict{Kind: trace.Unfinished, From: r.from, Decisions: r.decisions}
	var running []trace.ThreadID
	full := false
	shaped := r.from // the decision from which the threads repeat themselves but for values
	for id, t := range r.threads {
		i := slices.IndexFunc(end.Waiters, func(w trace.Waiter) bool { return w.Thread == trace.ThreadID(id) })
		runs := i >= 0 && !t.ended && len(t.seen) > 0 && (end.Waiters[i].Ready || t.last > r.decisions-(r.decisions-r.from)/settled)
		switch {
		case i < 0 && t.timer():
			v.From = max(v.From, t.fresh) // it waits for nothing; whom it lets go on is seen to do so
			shaped = max(shaped, t.fresh)
		case !runs:
			v.From = max(v.From, t.last)
			shaped = max(shaped, t.last)
		default:
			v.From = max(v.From, t.fresh)
			shaped = max(shaped, t.shaped)
			full = full || t.over
			running = append(running, trace.ThreadID(id))
		}
	}
	late := func() bool { return v.From-r.from > (r.decisions-r.from)/settled }
	if !r.unseen && (full || late()) && r.counts(running) {
		if v.From = shaped; late() {
			return v
		}
		if v.Counting = running; !slices.Contains(endless, running[0]) {
			v.Acted = v.From
			return v
		}
		full, v.Counting, v.Counted = false, nil, true
	}
	v.Acted = v.From
	if r.unseen || full || late() {
		return v
	}
	touch := r.states && r.touch(running, v.From)
	if touch && slices.ContainsFunc(running, func(id trace.ThreadID) bool { return len(r.threads[id].states) == 0 }) {
		return v
	}
	acts, disturbed := v.From, len(running) > 1 && r.anyChange(running, v.From)
	for _, id := range running {
		t := r.threads[id]
		if !disturbed && slices.Contains(endless, id) {
			continue
		}
		if v.From = max(v.From, t.newest); t.newest-r.from > (r.decisions-r.from)/settled {
			v.Counting = append(v.Counting, id)
		}
	}
	if late() {
		if disturbed {
			v.Counting = nil
		}
		v.From = acts
		return v
	}
	kind, mixed := trace.Hang, r.mixed(v.From)
	for _, id := range running {
		t := r.threads[id]
		recurring := 0
		for _, last := range t.seen {
			if last > v.From {
				recurring++
			}
		}
		events := t.events
		if v.Counted {
			events, recurring = t.turned, 0
			for _, last := range t.shapes {
				if last > v.From {
					recurring++
				}
			}
		}
		turns := events / max(recurring, 1)
		if v.Turns == 0 || turns < v.Turns {
			v.Turns = turns
		}
		w, ok := r.wait(id, t, v.From, mixed, v.Counted)
		if !ok {
			if len(t.states) == 0 {
				return v
			}
			v.Idle = append(v.Idle, id)
			continue
		}
		if w.Changing {
			kind = trace.Livelock
		}
		v.Outside = v.Outside || t.outside > v.From
		v.Waits = append(v.Waits, w)
	}
	if len(running) > 0 && !v.Outside && (len(v.Idle) == 0 || blocks(end, v.Idle)) {
		v.Kind = kind
	}
	return v
}

// blocks reports whether main waits, itself or for the end of a thread that does, for what another thread would have to do,
// and no thread waits for anything from outside. A program whose main waits for the end of an idle thread is one that serves until it
// is killed.
func blocks(end *trace.Ending, idle []trace.ThreadID) bool {
	at := map[trace.ThreadID]*trace.Waiter{}
	for i := range end.Waiters {
		w := &end.Waiters[i]
		at[w.Thread] = w
		switch ops.Of(w.Op).Of {
		case ops.Signal, ops.Descriptor, ops.Process, ops.Timer:
			return false
		}
	}
	for th, hops := trace.ThreadID(0), 0; hops <= len(end.Waiters); hops++ {
		w := at[th]
		if w == nil || w.Ready || slices.Contains(idle, th) {
			return false
		}
		if ops.Does(w.Op) != ops.Join {
			of := ops.Of(w.Op).Of
			return w.Op == trace.OpResume || of != ops.NoObject && of != ops.Memory && of != ops.Thread
		}
		th = w.Holder
	}
	return false
}

// touch reports whether one of the threads changes, after so many decisions, what another one looks at.
func (r *Recogniser) touch(running []trace.ThreadID, from int) bool {
	for _, id := range running {
		for a, last := range r.threads[id].seen {
			if last <= from || a.object == 0 {
				continue
			}
			for by, last := range r.changed[a.object] {
				if by != id && last > from {
					return true
				}
			}
		}
	}
	return false
}

// anyChange reports whether one of the threads changes something after so many decisions.
func (r *Recogniser) anyChange(running []trace.ThreadID, from int) bool {
	for _, changed := range r.changed {
		for id, last := range changed {
			if last > from && slices.Contains(running, id) {
				return true
			}
		}
	}
	return false
}

// mixed returns the objects on which the threads perform more than one operation after so many decisions.
func (r *Recogniser) mixed(from int) map[trace.Object]bool {
	only, mixed := map[trace.Object]trace.Op{}, map[trace.Object]bool{}
	for _, t := range r.threads {
		for a, last := range t.seen {
			if last <= from {
				continue
			}
			if op, ok := only[a.object]; ok && op != a.op {
				mixed[a.object] = true
			}
			only[a.object] = a.op
		}
	}
	return mixed
}

// counts reports whether only one thread runs, and it may count in memory.
func (r *Recogniser) counts(running []trace.ThreadID) bool {
	return len(running) == 1 && !r.partly && !r.threads[running[0]].shapeful
}

// wait returns what t looks at after so many decisions; ok is false if it looks at nothing. What changes does not count if the thread is
// known to count in memory.
func (r *Recogniser) wait(id trace.ThreadID, t *thread, from int, mixed map[trace.Object]bool, counted bool) (w Wait, ok bool) {
	values := map[place]int{} // the number of different acts at each place
	own := map[place]bool{}   // t changes something there
	ready := map[place]bool{} // t polls there, and something is ready
	for a, last := range t.seen {
		if last <= from {
			continue
		}
		values[a.place]++
		own[a.place] = own[a.place] || ops.Of(a.op).Does == ops.Exchange && a.value != a.aux
		ready[a.place] = ready[a.place] || ops.Of(a.op).Does == ops.Poll && a.value != 0
	}
	rank := func(w Wait) int {
		by, stack := r.own[w.Object]
		switch {
		case stack && by == id:
			return 3 // another thread might still have its address, but hardly has
		case w.Changing:
			return 2
		case w.Alone:
			return 1
		}
		return 0
	}
	plain := func(w Wait) int {
		switch {
		case ops.Of(w.Op).Does == ops.Read && !(counted && t.points[w.Site]):
			return 2 // is in some recordings only
		case ready[place{w.Op, w.Site, w.Object}]:
			return 1 // it may be about something else
		}
		return 0
	}
	compare := func(c, w Wait) int {
		return cmp.Or(cmp.Compare(rank(c), rank(w)), cmp.Compare(plain(c), plain(w)))
	}
	// latest is lower for what comes later in a turn. Compilers lay the code of a loop's looks out in their order.
	latest := func(c Wait) (int, trace.Site) {
		switch {
		case ops.Of(c.Op).Of != ops.Memory && c.Op != trace.OpYield: // a call that waits
			return -1, ^c.Site
		case c.Alone:
			return 0, c.Site
		case t.order.ends[c.place()] > from:
			return 0, ^c.Site
		}
		return 1, ^c.Site
	}
	var all []Wait
	let := map[place]bool{} // what the thread finds there lets it go on to what it looks at next
	for a, last := range t.seen {
		if last <= from || !looks(a, mixed) || counted && (values[a.place] > 1 || own[a.place]) {
			continue
		}
		others := false
		for by, last := range r.changed[a.object] {
			others = others || by != id && last > from
		}
		c := Wait{
			Thread: id, Op: a.op, Site: a.site, Object: a.object, Size: t.sizes[a.place],
			Alone: own[a.place], Changing: values[a.place] > 1 || others && a.op != trace.OpYield,
		}
		all = append(all, c)
		let[a.place] = t.order.passes(a.place, a.value)
		late, site := latest(c)
		later, siteOf := latest(w)
		if !ok || cmp.Or(compare(c, w), cmp.Compare(late, later), cmp.Compare(site, siteOf), cmp.Compare(c.Object, w.Object), cmp.Compare(c.Op, w.Op)) < 0 {
			w, ok = c, true
		}
	}
	w.With = with(w, slices.DeleteFunc(all, func(c Wait) bool { return compare(c, w) != 0 || let[c.place()] }))
	return w, ok
}

func (w *Wait) place() place { return place{w.Op, w.Site, w.Object} }

// with returns what a thread reads besides w, of what it may as well wait for: one thing, or nothing.
func with(w Wait, others []Wait) (l Look) {
	reads := func(w Wait) bool {
		does := ops.Does(w.Op)
		return does == ops.Read || does == ops.AtomicRead
	}
	if !reads(w) {
		return Look{}
	}
	for _, c := range others {
		switch {
		case !reads(c) || c.Object == w.Object:
		case l.Op == trace.OpNone || l.Object == c.Object && c.Site < l.Site:
			l = Look{c.Op, c.Site, c.Object, c.Size}
		case l.Object != c.Object:
			return Look{}
		}
	}
	return l
}
