package depend

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"

	"github.com/heddle-dev/heddle/internal/testing/ordertest"
	"github.com/heddle-dev/heddle/trace"
)

// goInstr is one operation of a goroutine's program.
type goInstr struct {
	op    trace.Op
	at    trace.Object
	n     int64    // goroutine, delta, nanoseconds
	cases []goCase // of a select
	other bool     // a select with a default, of one case if the operation is a send or receive
}

type goCase struct {
	at   trace.Object
	send bool
}

// goMachine implements what other goroutines can see of Go's runtime. It does not use package
// depend.
type goMachine struct {
	progs   [][]goInstr
	gs      []goroutine
	chans   map[trace.Object]*goChan
	mutexes map[trace.Object]*goMutex
	rws     map[trace.Object]*goRW
	wgs     map[trace.Object]*goWG
	conds   map[trace.Object][]int
	vars    map[trace.Object]string
	now     int64
	sleeps  []sleeper
	clock   int // its thread, the last
	out     []trace.Event
}

type goroutine struct {
	created, started, ended bool
	pc                      int
	parked, granted         bool
	sends                   int
	log                     []string // everything the program observes
}

type goChan struct {
	room, buf   []string // room is only its length
	sendq, rcvq []waitsOn
	closed      bool
}

type waitsOn struct {
	g, n  int // case of a select, -1
	value string
}

type goMutex struct {
	locked bool
	queue  []int
}

type goRW struct {
	w               goMutex // writers among themselves
	pending         bool
	readers, drains int
	readerq         []int
	writer          int // that waits for readers to leave, -1
}

type goWG struct {
	count   int64
	waiters []int
}

type sleeper struct {
	g    int
	when int64
}

func newGoMachine(progs [][]goInstr) *goMachine {
	m := &goMachine{
		progs: progs, gs: make([]goroutine, len(progs)), chans: map[trace.Object]*goChan{}, mutexes: map[trace.Object]*goMutex{},
		rws: map[trace.Object]*goRW{}, wgs: map[trace.Object]*goWG{}, conds: map[trace.Object][]int{}, vars: map[trace.Object]string{}, clock: len(progs),
	}
	m.gs[0].created = true
	for i := range 3 {
		m.chans[chanAt(i)] = &goChan{room: make([]string, i)}
	}
	return m
}

func chanAt(i int) trace.Object { return trace.MakeObject(trace.RegionHeap, 0, uint64(0x100+16*i)) }

func of[V any](m map[trace.Object]*V, o trace.Object) *V {
	if m[o] == nil {
		m[o] = new(V)
	}
	return m[o]
}

func (m *goMachine) ready(u int) bool {
	if u == m.clock {
		return len(m.sleeps) > 0
	}
	g := &m.gs[u]
	return g.created && !g.ended && (!g.parked || g.granted)
}

func (m *goMachine) emit(u int, op trace.Op, change func(*trace.Event)) {
	e := trace.Event{Thread: trace.ThreadID(u), Op: op}
	if change != nil {
		change(&e)
	}
	m.out = append(m.out, e)
}

func (m *goMachine) see(u int, format string, args ...any) {
	m.gs[u].log = append(m.gs[u].log, fmt.Sprintf(format, args...))
}

func (m *goMachine) park(u int) { m.gs[u].parked, m.gs[u].granted = true, false }

func (m *goMachine) grant(u int) { m.gs[u].granted = true }

// step performs u's next operation and returns its events.
func (m *goMachine) step(u int) []trace.Event {
	m.out = nil
	if u == m.clock {
		slices.SortStableFunc(m.sleeps, func(a, b sleeper) int { return int(a.when - b.when) })
		s := m.sleeps[0]
		m.sleeps = m.sleeps[1:]
		m.now = s.when
		m.grant(s.g)
		m.emit(u, trace.OpTimerFire, func(e *trace.Event) { e.Value = uint64(s.when) })
		return m.out
	}
	g := &m.gs[u]
	switch {
	case !g.started:
		g.started = true
		m.emit(u, trace.OpThreadStart, nil)
		return m.out
	case g.pc == len(m.progs[u]):
		g.ended = true
		m.emit(u, trace.OpThreadEnd, nil)
		return m.out
	}
	in := m.progs[u][g.pc]
	if g.parked {
		g.parked = false
		m.emit(u, trace.OpResume, func(e *trace.Event) { e.Object, e.Value = in.at, uint64(in.op) })
		m.resume(u, in)
	} else {
		m.emit(u, in.op, func(e *trace.Event) {
			e.Object, e.Value, e.Size = in.at, uint64(in.n), 1
			if in.op == trace.OpSelect {
				e.Size = uint32(len(in.cases))
			}
		})
		m.begin(u, in)
	}
	if !g.parked {
		g.pc++
	}
	return m.out
}

func (m *goMachine) begin(u int, in goInstr) {
	g := &m.gs[u]
	switch in.op {
	case trace.OpGo:
		m.gs[in.n].created = true
	case trace.OpRead:
		m.see(u, "%s", m.vars[in.at])
	case trace.OpWrite:
		g.sends++
		m.vars[in.at] = fmt.Sprintf("%d.%d", u, g.sends)
	case trace.OpChanSend, trace.OpChanRecv:
		c := goCase{in.at, in.op == trace.OpChanSend}
		if in.other {
			done := m.try(u, c)
			m.see(u, "attempt %t", done)
			if m.out[0].Value = 1; !done {
				m.out[0].Result = int32(syscall.EAGAIN)
			}
			return
		}
		if !m.try(u, c) {
			m.wait(u, -1, c)
			m.park(u)
		}
	case trace.OpChanClose:
		ch := m.chans[in.at]
		ch.closed = true
		for _, w := range slices.Concat(ch.rcvq, ch.sendq) {
			m.hand(w, "closed")
		}
	case trace.OpSelect:
		for n, c := range in.cases {
			if m.try(u, c) {
				m.see(u, "case %d", n)
				m.emit(u, trace.OpSelectCase, func(e *trace.Event) { e.Value, e.Flags = uint64(n), trace.FlagNoDecision })
				return
			}
		}
		if in.other {
			m.see(u, "default")
			m.emit(u, trace.OpSelectCase, func(e *trace.Event) { e.Value, e.Flags = ^uint64(0), trace.FlagNoDecision })
			return
		}
		for n, c := range in.cases {
			m.wait(u, n, c)
		}
		m.park(u)
	case trace.OpGmutexLock:
		m.lock(u, of(m.mutexes, in.at), false)
	case trace.OpGmutexTrylock:
		mu := of(m.mutexes, in.at)
		m.see(u, "%t", !mu.locked)
		mu.locked = true // never released: later locks wait forever, which serves as a test too
	case trace.OpGmutexUnlock:
		m.unlock(of(m.mutexes, in.at))
	case trace.OpRwRlock:
		if rw := of(m.rws, in.at); rw.pending {
			rw.readerq = append(rw.readerq, u)
			m.park(u)
		} else {
			rw.readers++
		}
	case trace.OpRwRunlock:
		rw := of(m.rws, in.at)
		rw.readers--
		if rw.pending {
			if rw.drains--; rw.drains == 0 {
				m.grant(rw.writer)
			}
		}
	case trace.OpRwLock:
		rw := of(m.rws, in.at)
		if m.lock(u, &rw.w, false) {
			m.drain(u, rw)
		}
	case trace.OpRwUnlock:
		rw := of(m.rws, in.at)
		rw.pending = false
		for _, r := range rw.readerq {
			rw.readers++
			m.grant(r)
		}
		rw.readerq = nil
		m.unlock(&rw.w)
	case trace.OpWgAdd:
		wg := of(m.wgs, in.at)
		if wg.count += in.n; wg.count < 0 {
			m.see(u, "negative")
		}
		if wg.count == 0 {
			for _, w := range wg.waiters {
				m.grant(w)
			}
			wg.waiters = nil
		}
	case trace.OpWgWait:
		if wg := of(m.wgs, in.at); wg.count > 0 {
			wg.waiters = append(wg.waiters, u)
			m.park(u)
		}
	case trace.OpGcondWait:
		m.conds[in.at] = append(m.conds[in.at], u)
		m.park(u)
	case trace.OpGcondSignal:
		if q := m.conds[in.at]; len(q) > 0 {
			m.grant(q[0])
			m.conds[in.at] = q[1:]
		}
	case trace.OpGcondBroadcast:
		for _, w := range m.conds[in.at] {
			m.grant(w)
		}
		m.conds[in.at] = nil
	case trace.OpGsleep:
		m.sleeps = append(m.sleeps, sleeper{u, m.now + in.n})
		m.park(u)
	case trace.OpGosched:
	default:
		panic(in.op)
	}
}

// resume continues a blocked operation, which may block again.
func (m *goMachine) resume(u int, in goInstr) {
	switch in.op {
	case trace.OpGmutexLock:
		m.lock(u, of(m.mutexes, in.at), true)
	case trace.OpRwLock:
		if rw := of(m.rws, in.at); rw.writer == u && rw.pending {
			return // the readers have left
		} else if m.lock(u, &rw.w, true) {
			m.drain(u, rw)
		}
	case trace.OpSelect:
		m.emit(u, trace.OpSelectCase, func(e *trace.Event) { e.Flags = trace.FlagNoDecision })
	}
}

func (m *goMachine) lock(u int, mu *goMutex, again bool) bool {
	switch {
	case !mu.locked:
		mu.locked = true
		return true
	case again:
		mu.queue = append([]int{u}, mu.queue...)
	default:
		mu.queue = append(mu.queue, u)
	}
	m.park(u)
	return false
}

func (m *goMachine) unlock(mu *goMutex) {
	mu.locked = false
	if len(mu.queue) > 0 {
		m.grant(mu.queue[0])
		mu.queue = mu.queue[1:]
	}
}

func (m *goMachine) drain(u int, rw *goRW) {
	rw.pending, rw.writer, rw.drains = true, u, rw.readers
	if rw.drains > 0 {
		m.park(u)
	}
}

// try does a send or receive if that is possible without waiting.
func (m *goMachine) try(u int, c goCase) bool {
	ch := m.chans[c.at]
	value := fmt.Sprintf("%d.%d", u, m.gs[u].sends+1)
	switch {
	case c.send && ch.closed:
		m.see(u, "send on closed")
	case c.send && len(ch.rcvq) > 0:
		m.gs[u].sends++
		m.hand(ch.rcvq[0], value)
	case c.send && len(ch.buf) < len(ch.room):
		m.gs[u].sends++
		ch.buf = append(ch.buf, value)
	case c.send:
		return false
	case len(ch.buf) > 0:
		m.see(u, "%s", ch.buf[0])
		ch.buf = ch.buf[1:]
		if len(ch.sendq) > 0 {
			w := ch.sendq[0]
			ch.buf = append(ch.buf, w.value)
			m.hand(w, "sent")
		}
	case len(ch.sendq) > 0:
		w := ch.sendq[0]
		m.see(u, "%s", w.value)
		m.hand(w, "sent")
	case ch.closed:
		m.see(u, "closed")
	default:
		return false
	}
	return true
}

func (m *goMachine) wait(u, n int, c goCase) {
	ch := m.chans[c.at]
	w := waitsOn{g: u, n: n}
	if c.send {
		m.gs[u].sends++
		w.value = fmt.Sprintf("%d.%d", u, m.gs[u].sends)
		ch.sendq = append(ch.sendq, w)
	} else {
		ch.rcvq = append(ch.rcvq, w)
	}
}

// hand ends a wait, for a select on all its channels.
func (m *goMachine) hand(w waitsOn, value string) {
	m.see(w.g, "%d: %s", w.n, value)
	m.grant(w.g)
	gone := func(x waitsOn) bool { return x.g == w.g }
	for _, ch := range m.chans {
		ch.rcvq = slices.DeleteFunc(slices.Clone(ch.rcvq), gone)
		ch.sendq = slices.DeleteFunc(slices.Clone(ch.sendq), gone)
	}
}

// goPrograms writes random programs of goroutines that main starts.
func goPrograms(r *rand.Rand) [][]goInstr {
	threads := 3 + r.IntN(3)
	progs := make([][]goInstr, threads)
	object := func(sort uint64) trace.Object {
		return trace.MakeObject(trace.RegionHeap, 0, sort*0x1000+16*uint64(r.IntN(2)))
	}
	sorts := []int{}
	for s := range 10 {
		if r.IntN(5) < 2 {
			sorts = append(sorts, s) // some of every sort
		}
	}
	if len(sorts) == 0 || r.IntN(3) == 0 {
		sorts = []int{0, 1, 2} // channels alone
	}
	for t := range progs {
		var p []goInstr
		add := func(in ...goInstr) { p = append(p, in...) }
		if t == 0 {
			for c := 1; c < threads; c++ {
				add(goInstr{op: trace.OpGo, n: int64(c)})
			}
		}
		for range 2 + r.IntN(4) {
			if r.IntN(3) == 0 {
				add(goInstr{op: []trace.Op{trace.OpRead, trace.OpWrite}[r.IntN(2)], at: object(1)})
			}
			ch := chanAt(r.IntN(3))
			switch sorts[r.IntN(len(sorts))] {
			case 0:
				add(goInstr{op: trace.OpChanSend, at: ch, other: r.IntN(3) == 0})
			case 1:
				add(goInstr{op: trace.OpChanRecv, at: ch, other: r.IntN(3) == 0})
			case 2:
				add(goInstr{op: trace.OpSelect, other: r.IntN(3) == 0, cases: []goCase{{chanAt(0), r.IntN(2) == 0}, {chanAt(1 + r.IntN(2)), r.IntN(2) == 0}}})
			case 3:
				o := object(2)
				add(goInstr{op: trace.OpGmutexLock, at: o}, goInstr{op: trace.OpRead, at: object(1)}, goInstr{op: trace.OpGmutexUnlock, at: o})
			case 4:
				o := object(3)
				add(goInstr{op: trace.OpRwRlock, at: o}, goInstr{op: trace.OpGosched}, goInstr{op: trace.OpRwRunlock, at: o})
			case 5:
				o := object(3)
				add(goInstr{op: trace.OpRwLock, at: o}, goInstr{op: trace.OpWrite, at: object(1)}, goInstr{op: trace.OpRwUnlock, at: o})
			case 6:
				o := object(4)
				add(goInstr{op: trace.OpWgAdd, at: o, n: 1}, goInstr{op: trace.OpGosched}, goInstr{op: trace.OpWgAdd, at: o, n: -1})
			case 7:
				add(goInstr{op: trace.OpWgWait, at: object(4)})
			case 8:
				add(goInstr{op: []trace.Op{trace.OpGcondWait, trace.OpGcondSignal, trace.OpGcondBroadcast}[r.IntN(3)], at: object(5)})
			case 9:
				switch r.IntN(6) {
				case 0:
					add(goInstr{op: trace.OpChanClose, at: ch})
				case 1:
					add(goInstr{op: trace.OpGmutexTrylock, at: object(2)})
				default:
					add(goInstr{op: trace.OpGsleep, n: int64(1 + r.IntN(3))})
				}
			}
		}
		progs[t] = p
	}
	return progs
}

// TestGoOrdersReplay: if the operations of a random Go program run in any order that keeps the
// dependences, each is enabled at its turn, and every goroutine observes the same values.
func TestGoOrdersReplay(t *testing.T) {
	programs := uint64(4000)
	if testing.Short() {
		programs = 300
	}
	ops, moved, resumes := map[trace.Op]bool{}, 0, 0
	for seed := range programs {
		r := rand.New(rand.NewPCG(seed, 5))
		progs := goPrograms(r)
		m := newGoMachine(progs)
		tr := &trace.Trace{}
		for range 200 {
			var can []int
			for u := range m.clock + 1 {
				if m.ready(u) && (u != m.clock || len(can) == 0 || r.IntN(4) == 0) {
					can = append(can, u)
				}
			}
			if len(can) == 0 {
				break
			}
			for _, ev := range m.step(can[r.IntN(len(can))]) {
				ops[ev.Op] = true
				if ev.Op == trace.OpResume {
					resumes++
				}
				tr.Events = append(tr.Events, ev)
			}
		}
		g := Build(tr)
		for range 5 {
			order := randomOrder(g, r)
			if err := ordertest.Check(g, g.Thread, order); err != nil {
				t.Fatal(err)
			}
			again := newGoMachine(progs)
			for place, n := range order {
				from, to := g.EventsOf(n)
				if int(n) != place {
					moved++
				}
				u := int(tr.Events[from].Thread)
				if !again.ready(u) {
					t.Fatalf("seed %d, place %d: T%d cannot do event %d\n%s", seed, place, u, from, showGo(tr.Events, g, order[:place+1]))
				}
				got := again.step(u)
				if !slices.EqualFunc(got, tr.Events[from:to], func(a, b trace.Event) bool {
					return a.Thread == b.Thread && a.Op == b.Op && a.Object == b.Object && a.Value == b.Value
				}) {
					t.Fatalf("seed %d, place %d: event %d became %+v\n%s", seed, place, from, got, showGo(tr.Events, g, order[:place+1]))
				}
			}
			for u := range m.gs {
				if a, b := m.gs[u].log, again.gs[u].log; !slices.Equal(a, b) {
					t.Fatalf("seed %d: T%d saw %q, then %q\n%s", seed, u, a, b, showGo(tr.Events, g, order))
				}
				if m.ready(u) != again.ready(u) {
					t.Fatalf("seed %d: T%d is ready at the end: %t, then %t\n%s", seed, u, m.ready(u), again.ready(u), showGo(tr.Events, g, order))
				}
			}
		}
	}
	if len(ops) < 24 || moved < 10000 || resumes < 1000 {
		t.Errorf("the programs are too plain: %d operations, %d events moved, %d resumes", len(ops), moved, resumes)
	}
}

func randomOrder(g *Graph, r *rand.Rand) []int32 {
	left := make([]int, g.Len())
	succs := g.Succs()
	next := make([][]int32, g.Threads())
	for n := range int32(g.Len()) {
		left[n] = len(g.Preds(n))
		next[g.Thread[n]] = append(next[g.Thread[n]], n)
	}
	var order []int32
	for len(order) < g.Len() {
		th := r.IntN(len(next))
		if len(next[th]) == 0 || left[next[th][0]] > 0 {
			continue
		}
		n := next[th][0]
		next[th] = next[th][1:]
		order = append(order, n)
		for _, s := range succs.Of(n) {
			left[s]--
		}
	}
	return order
}

func showGo(events []trace.Event, g *Graph, order []int32) string {
	s := ""
	for i, e := range events {
		s += fmt.Sprintf("%3d T%d %v %#x value=%d\n", i, e.Thread, e.Op, uint64(e.Object), int64(e.Value))
	}
	s += "in the order"
	for _, n := range order {
		from, _ := g.EventsOf(n)
		s += fmt.Sprintf(" %d(T%d)", from, events[from].Thread)
	}
	return s
}
