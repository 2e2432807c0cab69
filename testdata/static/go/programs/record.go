// Package programs has the four programs of Table I of El-Zawawy and Alanazi, written in
// Go, and a recorder that they are traced with: dining philosophers, a parallel merge
// sort, a branch-and-bound travelling salesman, and a parallel downloader.
//
// A program does what others may see through the recorder's types, each operation of which
// is one event. Operations happen one at a time, so the order in which they are recorded
// is the order in which they happened.
package programs

import (
	"hash/fnv"
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// Recorder records one run of a program.
type Recorder struct {
	mu      sync.Mutex
	t       *trace.Trace
	objects uint64
	yield   float64
}

// Thread is a thread of the program.
type Thread struct {
	r        *Recorder
	id       trace.ThreadID
	children int
	done     chan struct{}
	rand     *rand.Rand
}

// nameOfMain is what heddle calls the main thread.
const nameOfMain = 0x6865646c652d6d31

// Record runs a program. Yield is the chance that a thread offers the processor to others
// after an operation: without it a machine with few cores hardly switches.
func Record(name string, yield float64, seed uint64, program func(*Thread)) *trace.Trace {
	r := &Recorder{yield: yield, t: &trace.Trace{
		Header:  trace.Header{Target: "recorded", Command: []string{name}, Strategy: "one run", Instrumented: true},
		Modules: []trace.Module{{Path: name + ".go", Program: true}},
	}}
	main := r.thread(-1, 0, nameOfMain, seed)
	r.do(main, trace.Event{Op: trace.OpThreadStart}, nil)
	program(main)
	r.do(main, trace.Event{Op: trace.OpThreadEnd}, func() { r.t.Threads[0].Ended = true })
	for i, set := range ops.Enabled(r.t) {
		r.t.Events[i].Enabled = set
	}
	return r.t
}

// thread makes an entry of the thread table; r.mu is held, or nobody else is there yet.
func (r *Recorder) thread(parent trace.ThreadID, nth int, name, seed uint64) *Thread {
	id := trace.ThreadID(len(r.t.Threads))
	r.t.Threads = append(r.t.Threads, trace.Thread{ID: id, Parent: parent, Nth: nth, Name: name})
	return &Thread{r: r, id: id, done: make(chan struct{}), rand: rand.New(rand.NewPCG(seed, name))}
}

// do records an event and does it, in one.
func (r *Recorder) do(t *Thread, ev trace.Event, act func()) {
	r.mu.Lock()
	ev.Thread = t.id
	if _, _, line, ok := runtime.Caller(2); ok {
		ev.Site = trace.MakeSite(0, uint64(line))
	}
	if act != nil {
		act()
	}
	r.t.Events = append(r.t.Events, ev)
	r.mu.Unlock()
	if t.rand.Float64() < r.yield {
		runtime.Gosched()
	}
}

func (r *Recorder) object() trace.Object {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.objects += 8
	return trace.MakeObject(trace.RegionGlobal, 0, r.objects)
}

// Go starts a thread.
func (t *Thread) Go(body func(*Thread)) *Thread {
	r := t.r
	r.mu.Lock()
	t.children++
	h := fnv.New64a()
	h.Write(strconv.AppendUint(nil, r.t.Threads[t.id].Name, 16))
	h.Write(strconv.AppendInt(nil, int64(t.children), 10))
	child := r.thread(t.id, t.children, h.Sum64(), t.rand.Uint64())
	r.t.Events = append(r.t.Events, trace.Event{Thread: t.id, Op: trace.OpThreadCreate, Value: uint64(child.id)})
	r.mu.Unlock()
	go func() {
		defer close(child.done)
		r.do(child, trace.Event{Op: trace.OpThreadStart}, nil)
		body(child)
		r.do(child, trace.Event{Op: trace.OpThreadEnd}, func() { r.t.Threads[child.id].Ended = true })
	}()
	return child
}

// Join waits for a thread to end.
func (t *Thread) Join(child *Thread) {
	<-child.done
	t.r.do(t, trace.Event{Op: trace.OpThreadJoin, Value: uint64(child.id)}, nil)
}

// Mutex is a lock.
type Mutex struct {
	mu sync.Mutex
	at trace.Object
}

// NewMutex makes a lock.
func (t *Thread) NewMutex() *Mutex { return &Mutex{at: t.r.object()} }

// Lock takes the lock.
func (m *Mutex) Lock(t *Thread) {
	m.mu.Lock()
	t.r.do(t, trace.Event{Op: trace.OpMutexLock, Object: m.at}, nil)
}

// Unlock lets it go.
func (m *Mutex) Unlock(t *Thread) {
	t.r.do(t, trace.Event{Op: trace.OpMutexUnlock, Object: m.at}, m.mu.Unlock)
}

// Var is a shared variable.
type Var struct {
	value int64
	at    trace.Object
}

// NewVar makes a variable.
func (t *Thread) NewVar(value int64) *Var { return &Var{value, t.r.object()} }

// NewVars makes an array.
func (t *Thread) NewVars(n int) []*Var {
	out := make([]*Var, n)
	for i := range out {
		out[i] = t.NewVar(0)
	}
	return out
}

// Get reads the variable.
func (v *Var) Get(t *Thread) (value int64) {
	ev := trace.Event{Op: trace.OpRead, Object: v.at, Size: 8}
	t.r.do(t, ev, func() { value = v.value })
	return value
}

// Set writes it.
func (v *Var) Set(t *Thread, value int64) {
	t.r.do(t, trace.Event{Op: trace.OpWrite, Object: v.at, Size: 8, Value: uint64(value)}, func() { v.value = value })
}
