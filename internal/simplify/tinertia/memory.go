package tinertia

import (
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// verdict is what an execution showed.
type verdict struct {
	same  bool // the same bug
	cost  trace.Cost
	trace *trace.Trace // nil once forgotten
}

// memory knows the executions made so far, so that none is made twice. Executions are
// deterministic, therefore a script is known if it was executed before, and also if it
// begins with all the choices of an execution that ended: following it leads there and
// nowhere else.
//
// Schedules are kept as 64-bit hashes. Among a million of them two differ and collide
// with a probability below 10^-7, and the cost of that is one candidate not tried.
type memory struct {
	scripts  map[uint64]*verdict // scripts as they were asked for
	complete map[uint64]*verdict // schedules as they were executed, to the end
	held     []*verdict          // verdicts that still have their trace, oldest first
	events   int                 // events in them
}

// remembered is how many events the kept traces may have together; about 100 bytes each.
const remembered = 1 << 19

func newMemory() *memory {
	return &memory{scripts: map[uint64]*verdict{}, complete: map[uint64]*verdict{}}
}

// find is the verdict on a script, nil if it takes an execution to know.
func (m *memory) find(script []schedule.Step, threads []trace.Thread) *verdict {
	h := newScheduleHash(threads)
	for i := range script {
		h.add(&script[i])
		if v := m.complete[h.sum]; v != nil {
			return v
		}
	}
	return m.scripts[h.sum]
}

// add remembers the execution that a script led to.
func (m *memory) add(script []schedule.Step, threads []trace.Thread, v *verdict) {
	m.scripts[hashSchedule(script, threads)] = v
	m.complete[hashSchedule(schedule.Steps(v.trace.Events), v.trace.Threads)] = v
	m.held = append(m.held, v)
	m.events += len(v.trace.Events)
	for m.events > remembered && len(m.held) > 1 {
		old := m.held[0]
		m.held = m.held[1:]
		m.events -= len(old.trace.Events)
		old.trace = nil
	}
}

// scheduleHash hashes scripts step by step. Threads count by name, since their indices
// differ between executions that create them in another order.
type scheduleHash struct {
	threads []trace.Thread
	sum     uint64
}

func newScheduleHash(threads []trace.Thread) scheduleHash {
	return scheduleHash{threads, 0x9e3779b97f4a7c15}
}

func (h *scheduleHash) add(s *schedule.Step) {
	h.mix(nameOf(h.threads, s.Thread))
	op := uint64(s.Op) << 1
	if s.Timeout {
		op |= 1
	}
	h.mix(op)
	h.mix(uint64(s.Site))
	wake := uint64(0)
	if s.Wake >= 0 {
		wake = nameOf(h.threads, s.Wake)
	}
	h.mix(wake)
}

// mix is the finalizer of MurmurHash3 over the running sum and one word. It is not
// seeded at random, so that a run repeats even if it should ever meet a collision.
func (h *scheduleHash) mix(x uint64) {
	x += h.sum*0x9e3779b97f4a7c15 + 1
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	h.sum = x ^ x>>33
}

func hashSchedule(script []schedule.Step, threads []trace.Thread) uint64 {
	h := newScheduleHash(threads)
	for i := range script {
		h.add(&script[i])
	}
	return h.sum
}
