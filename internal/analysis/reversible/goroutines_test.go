package reversible

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

// The reference for goroutines is a machine that runs random programs without branches under all schedules.

// Objects of these programs, by kind, beside variables and mutexes.
const (
	channels = 0x8000
	groups   = 0x9000
)

// goroutine is a program; goMachine runs one for each goroutine.
type goInstruction struct {
	op    trace.Op
	n     int // of the object; of a goroutine to start
	delta int // of a call of Add
}

type goChannel struct {
	capacity int
	buffer   []int // the events that sent
	closed   bool
	senders  []int // goroutines that wait, in their order
	receives []int
}

type goMachine struct {
	progs    [][]goInstruction
	capacity []int
	next     []int
	started  []bool
	ended    []bool
	waits    []bool // blocked, or about to resume
	woken    []bool
	sent     []int // the event of the send that the goroutine waits in
	chans    []goChannel
	count    [2]int
	waiting  [2][]int
	owner    [2]int // goroutine + 1
	queue    [2][]int
	writer   [8]int
	over     bool
	panicked bool
	events   []trace.Event
	shows    []string // what the execution shows, in any order
}

func newGoMachine(progs [][]goInstruction, capacity []int) *goMachine {
	n := len(progs)
	m := &goMachine{progs: progs, capacity: capacity, next: make([]int, n), started: make([]bool, n), ended: make([]bool, n), waits: make([]bool, n), woken: make([]bool, n), sent: make([]int, n)}
	m.started[0] = true
	for _, c := range capacity {
		m.chans = append(m.chans, goChannel{capacity: c})
	}
	return m
}

func (m *goMachine) enabled() (out []int) {
	for g := range m.progs {
		if !m.over && !m.panicked && m.started[g] && !m.ended[g] && (!m.waits[g] || m.woken[g]) {
			out = append(out, g)
		}
	}
	return out
}

func (m *goMachine) event(g int, op trace.Op, o trace.Object, value uint64) {
	m.events = append(m.events, trace.Event{Thread: trace.ThreadID(g), Op: op, Object: o, Value: value, Size: 4, Site: trace.Site(1 + 100*g + m.next[g])})
}

// show notes what an event of goroutine g shows.
func (m *goMachine) show(g int, what any) {
	m.shows = append(m.shows, fmt.Sprint(g, ".", m.next[g], " ", what))
}

// step lets a goroutine do what it does next.
func (m *goMachine) step(g int) {
	in := m.progs[g][m.next[g]]
	resumes := m.waits[g]
	m.waits[g], m.woken[g] = false, false
	block := func() { m.waits[g] = true }
	wake := func(h int) { m.woken[h] = true }
	var o trace.Object
	switch in.op {
	case trace.OpChanSend, trace.OpChanRecv, trace.OpChanClose:
		o = object(channels, in.n)
	case trace.OpWgAdd, trace.OpWgWait:
		o = object(groups, in.n)
	case trace.OpGmutexLock, trace.OpGmutexUnlock:
		o = object(mutexes, in.n)
	case trace.OpRead, trace.OpWrite:
		o = object(variables, in.n)
	}
	at := g*100 + m.next[g] // names the instruction
	if resumes {
		m.event(g, trace.OpResume, o, uint64(in.op))
	} else {
		value := uint64(0)
		switch in.op {
		case trace.OpGo:
			value = uint64(in.n)
		case trace.OpWgAdd:
			value = uint64(int64(in.delta))
		}
		m.event(g, in.op, o, value)
	}
	switch in.op {
	case trace.OpGo:
		m.started[in.n] = true
	case trace.OpThreadEnd:
		m.ended[g] = true
	case trace.OpProcessExit:
		m.over = true
	case trace.OpRead:
		m.show(g, m.writer[in.n])
	case trace.OpWrite:
		m.show(g, m.writer[in.n])
		m.writer[in.n] = at
	case trace.OpGmutexLock:
		if m.owner[in.n] != 0 {
			m.queue[in.n] = append(m.queue[in.n], g)
			block()
			return
		}
		m.owner[in.n] = g + 1
	case trace.OpGmutexUnlock:
		m.owner[in.n] = 0
		if q := m.queue[in.n]; len(q) > 0 {
			m.queue[in.n] = q[1:]
			wake(q[0])
		}
	case trace.OpWgAdd:
		m.count[in.n] += in.delta
		switch {
		case m.count[in.n] < 0:
			m.panicked = true
		case m.count[in.n] == 0:
			for _, h := range m.waiting[in.n] {
				wake(h)
			}
			m.waiting[in.n] = nil
		}
	case trace.OpWgWait:
		if !resumes && m.count[in.n] > 0 {
			m.waiting[in.n] = append(m.waiting[in.n], g)
			block()
			return
		}
	case trace.OpChanSend:
		c := &m.chans[in.n]
		switch {
		case resumes:
		case c.closed:
			m.panicked = true
		case len(c.receives) > 0:
			h := c.receives[0]
			c.receives = c.receives[1:]
			m.show(h, at)
			wake(h)
		case len(c.buffer) < c.capacity:
			c.buffer = append(slices.Clone(c.buffer), at)
		default:
			m.sent[g] = at
			c.senders = append(c.senders, g)
			block()
			return
		}
	case trace.OpChanRecv:
		c := &m.chans[in.n]
		switch {
		case resumes:
		case len(c.buffer) > 0:
			m.show(g, c.buffer[0])
			c.buffer = slices.Clone(c.buffer[1:])
			if len(c.senders) > 0 {
				h := c.senders[0]
				c.senders = c.senders[1:]
				c.buffer = append(c.buffer, m.sent[h])
				wake(h)
			}
		case len(c.senders) > 0:
			h := c.senders[0]
			c.senders = c.senders[1:]
			m.show(g, m.sent[h])
			wake(h)
		case c.closed:
			m.show(g, "closed")
		default:
			c.receives = append(c.receives, g)
			block()
			return
		}
	case trace.OpChanClose:
		c := &m.chans[in.n]
		if c.closed || len(c.senders) > 0 {
			m.panicked = true
			break
		}
		c.closed = true
		for _, h := range c.receives {
			m.show(h, "closed")
			wake(h)
		}
		c.receives = nil
	}
	m.next[g]++
}

// shown is what an execution shows, or "" if it blocks indefinitely.
func (m *goMachine) shown() string {
	switch {
	case m.panicked:
		return "panic"
	case !m.over:
		return ""
	}
	done := slices.Clone(m.shows)
	slices.Sort(done)
	// What the other goroutines have done before the program ends. A goroutine's end is not a part of it.
	next := slices.Clone(m.next)
	for g := range next {
		if m.ended[g] {
			next[g]--
		} else if m.woken[g] && m.progs[g][next[g]].op != trace.OpGmutexLock {
			next[g]++ // only its going on is left
		}
	}
	return fmt.Sprint(done, next)
}

// run executes a schedule as far as it goes.
func runGo(progs [][]goInstruction, capacity []int, schedule []int) *goMachine {
	m := newGoMachine(progs, capacity)
	for _, g := range schedule {
		m.step(g)
	}
	return m
}

// all returns what the executions under all schedules show, and how many there are; at most most.
func allGo(progs [][]goInstruction, capacity []int, most int) (map[string]bool, bool) {
	out, n := map[string]bool{}, 0
	seen := map[string]bool{}
	var from func(schedule []int) bool
	from = func(schedule []int) bool {
		m := runGo(progs, capacity, schedule)
		state := fmt.Sprint(m.next, m.waits, m.woken, m.ended, m.chans, m.count, m.waiting, m.owner, m.queue, m.writer, m.sent, m.over, m.panicked, sorted(m.shows))
		if seen[state] {
			return true
		}
		seen[state] = true
		if n++; n > most {
			return false
		}
		enabled := m.enabled()
		if len(enabled) == 0 {
			out[m.shown()] = true
		}
		for _, g := range enabled {
			if !from(append(slices.Clone(schedule), g)) {
				return false
			}
		}
		return true
	}
	return out, from(nil)
}

func sorted(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return list
}

// generateGo makes a random program: main starts the goroutines, some of which start others, and mostly waits for them.
func generateGo(r *rand.Rand) (progs [][]goInstruction, capacity []int) {
	n := 3 + r.IntN(2)
	progs = make([][]goInstruction, n)
	capacity = []int{r.IntN(3), r.IntN(2)}
	access := func(g int) goInstruction {
		in := goInstruction{op: []trace.Op{trace.OpRead, trace.OpWrite}[r.IntN(2)], n: 3 + g}
		if r.IntN(3) == 0 {
			in.n = r.IntN(2)
		}
		return in
	}
	parent := make([]int, n)
	for g := 1; g < n; g++ {
		if r.IntN(3) == 0 {
			parent[g] = r.IntN(g)
		}
	}
	join := r.IntN(4) // by the group, by a channel, by closing one, or not
	closer := 1 + r.IntN(n-1)
	for g := range progs {
		var p []goInstruction
		add := func(list ...goInstruction) { p = append(p, list...) }
		some := func() {
			for range r.IntN(2) {
				switch r.IntN(8) {
				case 0:
					add(goInstruction{op: trace.OpGmutexLock}, access(g), goInstruction{op: trace.OpGmutexUnlock})
				case 1:
					add(goInstruction{op: []trace.Op{trace.OpChanSend, trace.OpChanRecv}[min(g, 1)], n: 1})
				case 2: // crosswise
					n := r.IntN(2)
					add(goInstruction{op: trace.OpGmutexLock, n: n}, goInstruction{op: trace.OpGmutexLock, n: 1 - n}, goInstruction{op: trace.OpGmutexUnlock, n: 1 - n}, goInstruction{op: trace.OpGmutexUnlock, n: n})
				case 3:
					add(goInstruction{op: trace.OpGmutexLock}, goInstruction{op: []trace.Op{trace.OpChanSend, trace.OpChanRecv}[min(g, 1)], n: 1}, goInstruction{op: trace.OpGmutexUnlock})
				default:
					add(access(g))
				}
			}
		}
		some()
		for h := 1; h < n; h++ {
			if parent[h] != g {
				continue
			}
			if join == 0 {
				up, start := goInstruction{op: trace.OpWgAdd, delta: 1}, goInstruction{op: trace.OpGo, n: h}
				if r.IntN(8) == 0 {
					add(start, up)
				} else {
					add(up, start)
				}
			} else {
				add(goInstruction{op: trace.OpGo, n: h})
			}
			some()
		}
		if g > 0 {
			switch {
			case join == 0:
				add(goInstruction{op: trace.OpWgAdd, delta: -1})
			case join == 1:
				add(goInstruction{op: trace.OpChanSend})
			case join == 2 && g == closer:
				add(goInstruction{op: trace.OpChanClose})
			}
			if r.IntN(10) == 0 {
				add(access(g))
			}
			add(goInstruction{op: trace.OpThreadEnd})
		} else {
			switch join {
			case 0:
				add(goInstruction{op: trace.OpWgWait})
			case 1:
				for range n - 1 {
					add(goInstruction{op: trace.OpChanRecv})
					some()
				}
			case 2:
				add(goInstruction{op: trace.OpChanRecv})
			}
			for h := range n {
				if r.IntN(2) == 0 {
					add(goInstruction{op: trace.OpRead, n: 3 + h})
				}
			}
			add(goInstruction{op: trace.OpProcessExit})
		}
		progs[g] = p
	}
	return progs, capacity
}

// contendGo makes a random program whose goroutines share only locks and a channel, and may wait for each other.
func contendGo(r *rand.Rand) (progs [][]goInstruction, capacity []int) {
	n := 3 + r.IntN(2)
	progs, capacity = make([][]goInstruction, n), []int{0, r.IntN(3)}
	send, receive := 1+r.IntN(n-1), 1+r.IntN(n-1)
	for g := 1; g < n; g++ {
		progs[0] = append(progs[0], goInstruction{op: trace.OpWgAdd, delta: 1}, goInstruction{op: trace.OpGo, n: g})
		var p []goInstruction
		for range 1 + r.IntN(2) {
			n := r.IntN(2)
			a, b := goInstruction{op: trace.OpGmutexLock, n: n}, goInstruction{op: trace.OpGmutexLock, n: 1 - n}
			endA, endB := goInstruction{op: trace.OpGmutexUnlock, n: n}, goInstruction{op: trace.OpGmutexUnlock, n: 1 - n}
			switch r.IntN(4) {
			case 0:
				p = append(p, a, endA)
			case 1:
				p = append(p, a, b, endB, endA)
			default:
				communicate := goInstruction{op: trace.OpChanSend, n: 1}
				if g == receive {
					communicate.op = trace.OpChanRecv
				}
				switch {
				case g != send && g != receive:
					p = append(p, a, endA)
				case r.IntN(2) == 0:
					p = append(p, communicate, a, endA)
				default:
					p = append(p, a, communicate, endA)
				}
			}
		}
		progs[g] = append(p, goInstruction{op: trace.OpWgAdd, delta: -1}, goInstruction{op: trace.OpThreadEnd})
	}
	progs[0] = append(progs[0], goInstruction{op: trace.OpWgWait}, goInstruction{op: trace.OpProcessExit})
	return progs, capacity
}

var goPrograms = flag.Int("goroutines.programs", 1200, "check so many random programs")

// TestGoroutines: if the condition holds for one execution of a program without branches, then all of its executions show the
// same, and if it fails, the reordering that the model found is mostly one that a schedule has.
func TestGoroutines(t *testing.T) {
	t.Parallel()
	programs := *goPrograms
	if testing.Short() {
		programs = min(programs, 500)
	}
	answers := map[Answer]int{}
	differs, wrong := 0, 0
	found, free := 0, 0 // answers with a deadlock, and those of programs without any
	for seed := range uint64(programs) {
		r := rand.New(rand.NewPCG(seed, 7))
		progs, capacity := generateGo(r)
		if seed%3 == 2 {
			progs, capacity = contendGo(r)
		}
		m := newGoMachine(progs, capacity)
		for {
			enabled := m.enabled()
			if len(enabled) == 0 {
				break
			}
			m.step(enabled[r.IntN(len(enabled))])
		}
		want := m.shown()
		if want == "" || want == "panic" || slices.ContainsFunc(m.ended[1:], func(ended bool) bool { return !ended }) {
			continue // what has not happened in the trace, it cannot answer for
		}
		all, whole := allGo(progs, capacity, 4000)
		if !whole {
			continue
		}
		deadlocks := all[""]
		tr := &trace.Trace{Header: trace.Header{Target: "go", Instrumented: true}, Threads: make([]trace.Thread, len(progs)), Events: m.events}
		got, err := Check(t.Context(), tr, Options{})
		if err != nil {
			t.Fatal(err)
		}
		answers[got.Answer]++
		same := len(all) == 1
		switch {
		case got.Answer == Holds && deadlocks:
			t.Fatalf("seed %d: holds, but an execution ends in a deadlock\n%s", seed, describe(tr))
		case got.Deadlock != nil && deadlocks:
			found++
		case got.Deadlock != nil:
			free++
		}
		if !same {
			differs++
		}
		switch {
		case got.Answer == Holds && !same:
			var others []string
			for s := range all {
				if s != want {
					others = append(others, s)
				}
			}
			t.Fatalf("seed %d: holds, but executions differ\n%s\nis    %s\nothers %s", seed, describe(tr), want, strings.Join(others, "\n"))
		case got.Answer == Fails && same:
			wrong++
		}
	}
	t.Logf("%d deadlocks, %d that no execution has", found, free)
	t.Logf("%v; executions of %d programs differ, %d answers need an execution", answers, differs, wrong)
	if found < programs/100 || free > answers[Holds]/4 {
		t.Errorf("%d deadlocks were found, and %d that no execution has", found, free)
	}
	if answers[Holds] < programs/50 || answers[Fails] < programs/20 || wrong*5 > answers[Fails] {
		t.Errorf("%v, %d answers need an execution", answers, wrong)
	}
}
