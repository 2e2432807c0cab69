package handmade

import (
	"github.com/heddle-dev/heddle/internal/testing/simprog"
	"github.com/heddle-dev/heddle/trace"
)

// deadline is that of late, in virtual ns.
const deadline = 50_000_000

// quiet is how many plain accesses without another operation are a quiet stretch. No program has as many that
// tell it something.
const quiet = 100

// Simulated returns the program for the simulated machine. Its futexes are made of a mutex and a condition
// variable each.
func (p *Program) Simulated() (simprog.Program, error) {
	c, err := compileProgram(p.unit)
	if err != nil {
		return simprog.Program{}, err
	}
	return simprog.Program{Name: p.String(), Main: func(t *simprog.Thread) {
		m := &machine{p: c, workers: p.Workers}
		for _, o := range c.objects {
			var v simulated
			switch o.kind {
			case "mutex":
				v.mutex = t.Mutex()
			case "cond":
				v.cond = t.Cond()
			default:
				v.word = t.Var(int64(o.init))
			}
			m.objects = append(m.objects, v)
		}
		for _, code := range []*code{&c.body, &c.worker} {
			for _, i := range code.instrs {
				if i.op == opSleepWhile {
					for k := range i.size {
						if o := &m.objects[i.base+k]; o.mutex == nil {
							o.mutex, o.cond = t.Mutex(), t.Cond()
						}
					}
				}
			}
		}
		m.begun = t.Now()
		m.run(t, &c.body, make([]int32, c.body.registers))
	}}, nil
}

// simulated is a variable on the simulated machine. A word with the other two is a futex.
type simulated struct {
	word  *simprog.Word
	mutex *simprog.Mutex
	cond  *simprog.Cond
}

// machine is one execution of a program on the simulated machine.
type machine struct {
	p       *compiled
	workers int
	objects []simulated
	threads []*simprog.Thread
	begun   int64
}

// run interprets a thread's code.
func (m *machine) run(t *simprog.Thread, c *code, r []int32) {
	plain := 0 // accesses in a row
	for pc := 0; ; pc++ {
		pc = c.local(pc, r)
		i := &c.instrs[pc]
		if plain++; i.op != opRead && i.op != opWrite {
			plain = 0
		} else if plain%quiet == 0 {
			t.At(place(i.pos, 1)).Waits()
		}
		var v simulated
		if i.size > 0 {
			k := i.base
			if i.index >= 0 {
				k += int(r[i.index])
			}
			v = m.objects[k]
		}
		at := t.At(trace.MakeSite(0, uint64(16+16*i.pos)))
		switch i.op {
		case opLoad:
			r[i.dst] = int32(at.Load(v.word))
		case opStore:
			at.Store(v.word, int64(r[i.a]))
		case opAdd:
			delta := r[i.a]
			r[i.dst] = int32(at.Add(v.word, int64(delta))) - delta
		case opXchg:
			r[i.dst] = int32(at.Exchange(v.word, int64(r[i.a])))
		case opCas:
			r[i.dst] = 0
			if at.CompareAndSwap(v.word, int64(r[i.a]), int64(r[i.b])) {
				r[i.dst] = 1
			}
		case opRead:
			r[i.dst] = int32(at.Read(v.word))
		case opWrite:
			at.Write(v.word, int64(r[i.a]))
		case opLock:
			at.Lock(v.mutex)
		case opTrylock:
			r[i.dst] = 0
			if at.TryLock(v.mutex) {
				r[i.dst] = 1
			}
		case opUnlock:
			at.Unlock(v.mutex)
		case opWait:
			at.Wait(v.cond, m.objects[i.base2].mutex)
		case opSignal:
			at.Signal(v.cond)
		case opBroadcast:
			at.Broadcast(v.cond)
		case opSleepWhile:
			m.sleepWhile(at, v, int64(r[i.a]), i.pos)
		case opWake:
			m.wake(at, v, r[i.a] == 1, i.pos)
		case opYield:
			at.Yield()
		case opNap:
			at.Sleep(1000)
		case opLate:
			r[i.dst] = 0
			if t.At(0); t.Now()-m.begun > deadline {
				r[i.dst] = 1
			}
		case opStart:
			t.At(0)
			for k := range m.workers {
				registers := make([]int32, m.p.worker.registers)
				registers[0] = int32(k)
				m.threads = append(m.threads, t.At(place(i.pos, 1)).Go(func(t *simprog.Thread) { m.run(t, &m.p.worker, registers) }))
			}
		case opFinish:
			t.At(0)
			for _, u := range m.threads {
				t.At(place(i.pos, 1)).Join(u)
			}
		case opCheck:
			at.Assert(false, "check")
		case opEnd:
			t.At(0)
			return
		}
	}
}

// place is the site of a step of an operation.
func place(pos, step int) trace.Site { return trace.MakeSite(0, uint64(16+16*pos+step)) }

func (m *machine) sleepWhile(t *simprog.Thread, v simulated, value int64, pos int) {
	t.Lock(v.mutex)
	if t.At(place(pos, 1)).Load(v.word) == value {
		t.At(place(pos, 2)).Wait(v.cond, v.mutex)
	}
	t.At(place(pos, 3)).Unlock(v.mutex)
}

func (m *machine) wake(t *simprog.Thread, v simulated, one bool, pos int) {
	t.At(0)
	if v.mutex == nil { // it has no sleepers
		return
	}
	t.At(place(pos, 0)).Lock(v.mutex)
	if t.At(place(pos, 1)); one {
		t.Signal(v.cond)
	} else {
		t.Broadcast(v.cond)
	}
	t.At(place(pos, 2)).Unlock(v.mutex)
}
