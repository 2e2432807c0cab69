package strategy

import (
	"slices"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// directory numbers the threads of all executions of a search by their names, which are the same in
// every schedule.
type directory struct {
	Threads []trace.Thread // what plans name threads by
	index   map[uint64]int
}

func (d *directory) number(t *trace.Thread) int {
	if d.index == nil {
		d.index = map[uint64]int{}
		for i := range d.Threads {
			d.index[d.Threads[i].Name] = i
		}
	}
	n, ok := d.index[t.Name]
	if !ok {
		n = len(d.Threads)
		d.index[t.Name] = n
		d.Threads = append(d.Threads, trace.Thread{ID: trace.ThreadID(n), Parent: -1, Nth: t.Nth, Name: t.Name, Entry: t.Entry})
	}
	return n
}

// decision is a scheduling decision of a recorded execution. Its threads are numbers of the
// directory.
type decision struct {
	step    schedule.Step
	enabled []int
	created []int // those of enabled, in the order in which this execution created them
	uses    footprint
	// others are the other ways to perform the operation in this state: another thread to wake,
	// another case of a select to try first.
	others []schedule.Step
	yields bool
	free   bool // the operation never blocks
	// What the operation did to a lock that one thread can hold, or to a thread: it began or ended (lives), or was joined.
	releases, acquires, lives, joins bool
}

// recorded is a recorded execution.
type recorded struct {
	decisions  []decision
	next       [][]int // by thread: its decisions
	waiting    map[int]schedule.Step
	uses       map[int]footprint // of what the threads in waiting would have done, or more
	ended      []bool            // by thread
	handlers   bool              // the thread that ended last performed operations of the process's end
	deadlocked bool              // the execution ended because no thread was enabled
	untold     bool              // what the threads that had not ended would have done is not known
	missing    []string          // why the search cannot enumerate all executions like this one
	unfair     bool              // a thread yields or waits in a loop
	waits      bool              // an operation may have had a time limit
}

// unordered says of each kind of shared state, by its bit, why executions may be missing.
var unordered = [...]string{
	"several threads used a stdio stream, or its file, and the order of such calls is not enumerated",
	"several threads used state of libc's (environment, random numbers, time zone, results in static memory, …), and the order of such calls is not enumerated",
	"several threads used an attribute of a thread or lock (name, processors, priority, number, …), and the order of such calls is not enumerated",
	"several threads created, deleted or destroyed values of keys of thread-specific data, and the order of that is not enumerated",
	"a thread changed state of the process beside others (working directory, umask, limits, exit handlers, flags of a descriptor or socket, shared or fixed mappings), and the order of such calls is not enumerated",
	"a thread read a clock while others ran, and times are not enumerated",
	"memory is mapped twice, and the order of accesses by its two addresses is not enumerated",
}

// leaves reports whether an event ends the process because its thread is the last one to end. It depends on no
// other: which thread is the last follows from the order in which they end.
func leaves(t *trace.Trace, e *trace.Event) bool {
	if e.Op != trace.OpProcessExit || e.Site != 0 {
		return false
	}
	for i := range t.Threads {
		if !t.Threads[i].Ended && t.Threads[i].ID != e.Thread {
			return false
		}
	}
	return true
}

// waits reports whether a join returns only once the thread has ended. pthread_tryjoin_np never waits,
// and a time limit may lie in the past.
func waits(join *trace.Event) bool { return join.Size == 0 }

// free reports whether an operation never blocks.
func free(spec *ops.Spec, e *trace.Event) bool {
	return e.Op < trace.OpGo && (spec.Blocks == ops.Never || spec.Does == ops.Join && e.Size == 1)
}

// enables reports whether a later operation on the same object could never have come first: a lock
// is not free before it is released, and a thread is not joined before it ends. An operation that
// returns without the lock or the thread when it cannot have it is not enabled by either.
func (d *decision) enables(later *decision) bool {
	return d.releases && later.acquires || d.lives && later.joins
}

func (d *decision) thread() int { return int(d.step.Thread) }

// read returns the decisions of an execution.
func (d *directory) read(o *schedule.Outcome) *recorded {
	t := o.Trace
	r := &recorded{waiting: map[int]schedule.Step{}, uses: map[int]footprint{}}
	number := make([]int, len(t.Threads))
	for i := range t.Threads {
		number[i] = d.number(&t.Threads[i])
	}
	r.next = make([][]int, len(d.Threads))
	of := func(id trace.ThreadID) trace.ThreadID {
		if id < 0 || int(id) >= len(number) {
			return -1
		}
		return trace.ThreadID(number[id])
	}
	name := func(id uint64) uint64 {
		if id < uint64(len(t.Threads)) {
			return t.Threads[id].Name
		}
		return id
	}
	var q queues
	last := map[trace.ThreadID]trace.Object{}
	if o.External {
		r.miss("an execution depended on another process, the network or a system call that lasted")
	}
	if o.Random {
		r.miss("an execution drew a random number or iterated over a map")
	}
	for state, calls := range unordered {
		if o.Unordered&(1<<state) != 0 {
			r.miss(calls)
		}
	}
	for i := range t.Events {
		e := &t.Events[i]
		spec := ops.Of(e.Op)
		switch {
		case spec.Does == ops.Opaque && spec.Of != ops.Semaphore && e.Op != trace.OpTestEnd:
			r.miss("a thread performed \"" + e.Op.String() + "\", which is not enumerated")
		case spec.Spontaneous && e.Op != trace.OpSpuriousWake:
			r.miss("a thread performed \"" + e.Op.String() + "\", whose time is not enumerated")
		case e.Op == trace.OpSpuriousWake:
			r.miss("spurious wake-ups are not enumerated")
		case e.Early() || spec.Blocks == ops.UntilTime || spec.Does == ops.Sleep:
			r.miss("a thread slept, or a wait timed out, and times are not enumerated")
		}
		r.waits = r.waits || spec.Deadline || spec.Does == ops.Resume || spec.Of == ops.Descriptor && spec.Blocks != ops.Never
		if e.Flags&trace.FlagNoDecision != 0 {
			continue
		}
		s := schedule.Steps(t.Events[i : i+1])[0]
		s.Thread, s.Wake = of(s.Thread), of(s.Wake)
		x := decision{step: s, uses: footprintOf(e, last[e.Thread], name), free: free(spec, e)}
		if leaves(t, e) {
			x.uses = footprint{{Space: spaceThread, At: name(uint64(e.Thread)), Write: true}}
			if i != len(t.Events)-1 {
				r.handlers = true
			}
		}
		lock := (spec.Of == ops.Mutex || spec.Of == ops.RWLock) && e.Op < trace.OpGo
		x.releases = lock && spec.Does == ops.Release && spec.Done(e) || e.Op == trace.OpCondWait && e.Result == 0
		x.acquires = lock && spec.Does == ops.Acquire && spec.Blocks == ops.UntilFree && !spec.Deadline && spec.Done(e)
		x.lives = spec.Does == ops.Start || spec.Does == ops.Finish || leaves(t, e)
		x.joins = spec.Does == ops.Join && waits(e) && e.Result == 0
		for id := range e.Enabled.All() {
			if n := of(id); n >= 0 {
				x.enabled = append(x.enabled, int(n))
			}
		}
		x.created = slices.Clone(x.enabled)
		slices.Sort(x.enabled)
		if e.Op == trace.OpYield || e.Op == trace.OpGosched || e.Flags&trace.FlagForced != 0 {
			x.yields, r.unfair = true, true
		}
		if e.Op == trace.OpSelect {
			for c := 1; c <= int(e.Size); c++ {
				if c != s.Choice {
					other := s
					other.Choice = c
					x.others = append(x.others, other)
				}
			}
		}
		wakes, all := q.apply(spec, e)
		if !all {
			r.miss("an operation woke several of the threads that waited, and other choices are not enumerated")
		}
		for _, w := range wakes {
			other := s
			if other.Wake = of(w); other.Wake != s.Wake {
				x.others = append(x.others, other)
			}
		}
		if e.Op != trace.OpResume {
			last[e.Thread] = e.Object
		}
		r.next[s.Thread] = append(r.next[s.Thread], len(r.decisions))
		r.decisions = append(r.decisions, x)
	}
	r.deadlocked = o.Ending.Kind == trace.Deadlock
	r.know(d.waiters(o))
	// Threads that have ended when the execution did could not have gone on.
	r.ended = make([]bool, len(d.Threads))
	for i := range t.Threads {
		r.ended[number[i]] = t.Threads[i].Ended
	}
	if n := len(r.decisions); n > 0 && len(r.waiting) == 0 && !r.deadlocked {
		last := r.decisions[n-1].thread()
		for t, ended := range r.ended {
			r.untold = r.untold || !ended && t != last
		}
	}
	return r
}

// waiter is a thread that had not ended when an execution did.
type waiter struct {
	Step schedule.Step `json:"s"`           // what it would have done
	Uses footprint     `json:"u,omitempty"` // or more
}

// widest is the size of the largest access that is not a range. A waiter does not tell the size of its own.
const widest = 64

// waiters returns the threads that had not ended, as far as the outcome tells.
func (d *directory) waiters(o *schedule.Outcome) (out []waiter) {
	for i := range o.Ending.Waiters {
		w := &o.Ending.Waiters[i]
		if w.Op == trace.OpNone || w.Thread < 0 || int(w.Thread) >= len(o.Trace.Threads) {
			continue
		}
		n := d.number(&o.Trace.Threads[w.Thread])
		x := waiter{schedule.Step{Thread: trace.ThreadID(n), Op: w.Op, Site: w.Site, Wake: -1}, everything}
		switch s := ops.Of(w.Op); {
		case s.Does == ops.Start || s.Does == ops.Finish:
			x.Uses = footprint{{Space: spaceThread, At: o.Trace.Threads[w.Thread].Name, Write: true}}
		case w.Object == 0:
		case w.Op == trace.OpRead || w.Op == trace.OpAtomicLoad || w.Op == trace.OpWrite || s.Does == ops.AtomicWrite || s.Does == ops.Exchange || s.Does == ops.Compare:
			reads := s.Does == ops.Read || s.Does == ops.AtomicRead
			x.Uses = footprint{{Space: spaceMemory, At: uint64(w.Object), Size: widest, Write: !reads}}
		case s.Of == ops.Mutex || s.Of == ops.RWLock || s.Of == ops.Semaphore:
			x.Uses = footprint{{Space: spaceObject, At: uint64(w.Object), Write: true}}
		}
		out = append(out, x)
	}
	return out
}

// know adds what threads would have done next.
func (r *recorded) know(ws []waiter) {
	for _, w := range ws {
		r.waiting[int(w.Step.Thread)], r.uses[int(w.Step.Thread)] = w.Step, w.Uses
	}
}

// probe returns a script that diverges at the execution's last decision. Runtimes do not report what
// the other threads of a program that exits would have done, and do so where a script diverges.
func (r *recorded) probe() (prefix []schedule.Step, last schedule.Step) {
	n := len(r.decisions) - 1
	for i := range n {
		prefix = append(prefix, r.decisions[i].step)
	}
	return prefix, schedule.Step{Thread: r.decisions[n].step.Thread, Op: trace.OpNone, Wake: -1}
}

// left returns the threads that could have gone on when the execution ended, or else the one that
// performed its last operation.
func (r *recorded) left() (out []int) {
	last := &r.decisions[len(r.decisions)-1]
	for _, t := range last.enabled {
		if t != last.thread() && !r.ended[t] {
			out = append(out, t)
		}
	}
	if len(out) == 0 {
		out = append(out, last.thread())
	}
	return out
}

// kills reports whether a thread had not ended when the execution did.
func (r *recorded) kills(t int) bool { return !r.ended[t] }

// miss notes why the executions of the program are not all enumerated.
func (r *recorded) miss(why string) {
	if !slices.Contains(r.missing, why) {
		r.missing = append(r.missing, why)
	}
}

// pending returns what a thread that was enabled at decision i would have done there. ok is false
// if the recording does not tell.
func (r *recorded) pending(i, thread int) (s schedule.Step, ok bool) {
	if at := r.at(i, thread); at >= 0 {
		s = r.decisions[at].step
		s.Wake = -1
		if s.Op == trace.OpSelect {
			s.Choice = 1
		}
		if at != i {
			s.Timeout = false
		}
		return s, true
	}
	s, ok = r.waiting[thread]
	return s, ok
}

// at returns the first decision of a thread from i on, or -1.
func (r *recorded) at(i, thread int) int {
	if thread >= len(r.next) {
		return -1
	}
	n, _ := slices.BinarySearch(r.next[thread], i)
	if n == len(r.next[thread]) {
		return -1
	}
	return r.next[thread][n]
}

// performs reports whether there is a decision i, and the thread made it.
func (r *recorded) performs(i, thread int) bool {
	return i < len(r.decisions) && r.decisions[i].thread() == thread
}

// before returns the last decision of a thread before i, or -1.
func (r *recorded) before(i, thread int) int {
	if thread >= len(r.next) {
		return -1
	}
	n, _ := slices.BinarySearch(r.next[thread], i)
	if n == 0 {
		return -1
	}
	return r.next[thread][n-1]
}

// queues follows which threads wait at condition variables and futexes.
type queues map[trace.Object][]trace.ThreadID

// apply returns the threads that the event might have woken instead of the one that it names. all
// is false if it could have woken other sets of threads, too.
func (q *queues) apply(s *ops.Spec, e *trace.Event) (others []trace.ThreadID, all bool) {
	if s.Of != ops.Condition && s.Of != ops.Futex || e.Op >= trace.OpGo {
		return nil, true
	}
	if *q == nil {
		*q = queues{}
	}
	in := (*q)[e.Object]
	leave := func(t trace.ThreadID) {
		(*q)[e.Object] = slices.DeleteFunc(slices.Clone(in), func(u trace.ThreadID) bool { return u == t })
	}
	switch s.Does {
	case ops.Wait:
		if e.Result == 0 {
			(*q)[e.Object] = append(slices.Clip(in), e.Thread)
		}
	case ops.Resume, ops.Leave:
		leave(e.Thread)
	case ops.WakeOne, ops.WakeSome:
		woken := trace.ThreadID(e.Value) - 1
		n := uint64(1)
		if s.Does == ops.WakeSome {
			woken, n = trace.ThreadID(e.Aux)-1, e.Value
		}
		if len(in) > 1 && n == 1 {
			others = in
		}
		all = n <= 1 || n >= uint64(len(in))
		switch {
		case n > 1:
			delete(*q, e.Object)
		case woken >= 0:
			leave(woken)
		}
		return others, all
	case ops.WakeAll, ops.Init, ops.Destroy:
		delete(*q, e.Object)
	}
	return nil, true
}
