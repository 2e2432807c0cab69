package tinertia

import (
	"math/rand/v2"

	"github.com/heddle-dev/heddle/trace"
)

// draw picks a number from 0 to n-1.
type draw func(n int) int

// randomProgram makes a program that may have a bug: assertions over shared variables,
// locks taken in any order, semaphores and condition variables that may never be
// signalled, loops that wait for a flag.
func randomProgram(d draw, size int) *program {
	p := &program{vars: 3, locks: 2, conds: 1, sems: []int{d(2)}, patience: d(2)}
	workers := 2 + d(2+size/4)
	funcs := 1 + d(workers)
	for range funcs {
		p.funcs = append(p.funcs, randomBody(d, p, size))
	}
	if d(2) == 0 {
		for range workers {
			p.start = append(p.start, d(funcs))
		}
		return p
	}
	// A main thread that creates the others, and joins them or ends the process.
	p.life = true
	var main []instr
	for w := range workers {
		main = append(main, instr{kind: kCreate, a: d(funcs)})
		if d(3) == 0 {
			main = append(main, randomStatement(d, p, len(main))...)
		}
		if d(6) == 0 {
			main = append(main, instr{kind: kJoin, a: w})
		}
	}
	main = append(main, randomStatement(d, p, len(main))...)
	if d(2) == 0 {
		for w := range workers {
			main = append(main, instr{kind: kJoin, a: w})
		}
	}
	main = append(main, instr{kind: kExit})
	p.funcs = append(p.funcs, main)
	p.start = []int{funcs}
	return p
}

func randomBody(d draw, p *program, size int) []instr {
	var code []instr
	for range 1 + size/4 + d(size) {
		code = append(code, randomStatement(d, p, len(code))...)
	}
	return code
}

// randomStatement is one to a few instructions that begin at pc.
func randomStatement(d draw, p *program, pc int) []instr {
	v, c := d(p.vars), 1+d(2)
	switch d(12) {
	case 0, 1:
		return []instr{{kind: kWrite, a: v, b: c}}
	case 2, 3: // increment, with another thread in between or not
		return []instr{{kind: kLoad, a: v}, {kind: kStore, a: v, b: 1}}
	case 4, 5: // assert(v != c), or a crash
		k := kFail
		if d(2) == 0 {
			k = kCrash
		}
		return []instr{{kind: kIf, a: v, b: c, to: pc + 2}, {kind: k, a: v, b: 9}}
	case 6: // critical section
		l := d(p.locks)
		code := []instr{{kind: kLock, a: l}}
		if d(2) == 0 {
			code = append(code, instr{kind: kWrite, a: v, b: c})
		} else {
			code = append(code, instr{kind: kLoad, a: v}, instr{kind: kStore, a: v, b: 1})
		}
		return append(code, instr{kind: kUnlock, a: l})
	case 7: // two locks
		l := d(p.locks)
		m := (l + 1) % p.locks
		return []instr{{kind: kLock, a: l}, {kind: kLock, a: m}, {kind: kWrite, a: v, b: c}, {kind: kUnlock, a: m}, {kind: kUnlock, a: l}}
	case 8: // wait for a flag by sleeping, for ever perhaps
		return []instr{{kind: kIf, a: v, b: 0, to: pc + 3}, {kind: kSleep}, {kind: kGoto, to: pc}}
	case 9: // assert(!(v == c && w == 1))
		return []instr{{kind: kIf, a: v, b: c, to: pc + 3}, {kind: kIf, a: d(p.vars), b: 1, to: pc + 3}, {kind: kFail}}
	case 10:
		if d(2) == 0 {
			return []instr{{kind: kSemPost, a: 0}, {kind: kMalloc}}
		}
		return []instr{{kind: kSemWait, a: 0}}
	default: // if (v == 0) wait; or set and signal
		if d(2) == 0 {
			return []instr{{kind: kLock, a: 0}, {kind: kIf, a: v, b: 0, to: pc + 3}, {kind: kWait, a: 0, b: 0}, {kind: kUnlock, a: 0}}
		}
		return []instr{{kind: kWrite, a: v, b: c}, {kind: kLock, a: 0}, {kind: kSignal, a: 0}, {kind: kUnlock, a: 0}}
	}
}

// failing looks for an execution that fails; nil if there is none in some tries. Hangs
// are left out: here they are only the step budget.
func failing(p *program, seed uint64, tries int) *trace.Trace {
	for i := range tries {
		t := p.record(seed+uint64(i), float64(i%3)*0.3)
		if t.Ending.Kind.Failed() && t.Ending.Kind != trace.Hang {
			return t
		}
	}
	return nil
}

func seeded(seed uint64) draw {
	rng := rand.New(rand.NewPCG(seed, 11))
	return func(n int) int { return rng.IntN(n) }
}
