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
	case 8: // wait for a flag by sleeping, perhaps forever
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

// failing searches for a failing execution; it returns nil if a number of tries find none. It skips
// hangs, which here only mean that the step budget ran out.
func failing(p *program, seed uint64, tries int) *trace.Trace {
	for i := range tries {
		t := p.record(seed+uint64(i), float64(i%3)*0.3)
		if len(t.Events) > 0 && t.Ending.Kind.Failed() && t.Ending.Kind != trace.Hang {
			return t
		}
	}
	return nil
}

func seeded(seed uint64) draw {
	rng := rand.New(rand.NewPCG(seed, 11))
	return func(n int) int { return rng.IntN(n) }
}

// deepProgram has a bug that needs its threads to take many turns in one order: a chain of flags,
// some of which are set only for a moment.
func deepProgram(d draw) *program {
	stages := 4 + d(4)
	p := &program{vars: stages + 4, locks: 1, sems: []int{1}, patience: d(2), life: d(2) == 0}
	threads := 2 + d(2)
	code := make([][]instr, threads)
	noise := func(t int) {
		for range d(3) {
			v, pc := stages+d(3), len(code[t])
			switch d(6) {
			case 0:
				code[t] = append(code[t], instr{kind: kWrite, a: v, b: 1})
			case 1:
				code[t] = append(code[t], instr{kind: kLoad, a: v}, instr{kind: kStore, a: v, b: 1})
			case 2:
				code[t] = append(code[t], instr{kind: kLock}, instr{kind: kWrite, a: v, b: 1}, instr{kind: kUnlock})
			case 3:
				code[t] = append(code[t], instr{kind: kSleep})
			case 4:
				if p.life {
					code[t] = append(code[t], instr{kind: kCreate, a: threads + 1})
				}
			case 5:
				code[t] = append(code[t], instr{kind: kIf, a: v, to: pc + 2}, instr{kind: kWrite, a: v, b: 2})
			}
		}
	}
	const end = 999
	t := 0
	for s := range stages {
		t = (t + 1 + d(threads-1)) % threads
		noise(t)
		if s > 0 {
			code[t] = append(code[t], instr{kind: kIf, a: s - 1, b: 1, to: end})
			noise(t)
		}
		if s == stages-1 {
			code[t] = append(code[t], instr{kind: kFail})
			break
		}
		code[t] = append(code[t], instr{kind: kWrite, a: s, b: 1})
		if d(3) > 0 {
			code[t] = append(code[t], instr{kind: kWrite, a: s, b: 2})
		}
	}
	for t := range code {
		noise(t)
		for i := range code[t] {
			if code[t][i].to == end {
				code[t][i].to = len(code[t])
			}
		}
	}
	p.funcs = code
	if !p.life {
		for t := range threads {
			p.start = append(p.start, t)
		}
		return p
	}
	var main []instr
	for t := range threads {
		main = append(main, instr{kind: kCreate, a: t})
	}
	for t := range threads {
		main = append(main, instr{kind: kJoin, a: t})
	}
	p.funcs = append(p.funcs, main, []instr{{kind: kWrite, a: stages + 3, b: 1}})
	p.start = []int{threads}
	return p
}

// familyProgram has threads that create threads.
func familyProgram(d draw) *program {
	p := &program{vars: 3, locks: 3, conds: 1, sems: []int{d(2)}, patience: d(2), life: true}
	p.funcs = append(p.funcs, randomBody(d, p, 3), randomBody(d, p, 5))
	for range 2 {
		var code []instr
		children := d(3)
		for range children {
			code = append(code, randomStatement(d, p, len(code))...)
			code = append(code, instr{kind: kCreate, a: d(2)})
		}
		for range 1 + d(4) {
			code = append(code, randomStatement(d, p, len(code))...)
		}
		if d(2) == 0 {
			for c := range children {
				code = append(code, instr{kind: kJoin, a: c})
			}
		}
		p.funcs = append(p.funcs, code)
	}
	var main []instr
	workers := 2 + d(5)
	for range workers {
		main = append(main, instr{kind: kCreate, a: d(4)})
		if d(4) == 0 {
			main = append(main, randomStatement(d, p, len(main))...)
		}
	}
	if d(2) == 0 {
		for w := range workers {
			main = append(main, instr{kind: kJoin, a: w})
		}
	}
	main = append(main, randomStatement(d, p, len(main))...)
	p.funcs = append(p.funcs, append(main, instr{kind: kExit}))
	p.start = []int{4}
	return p
}

// counters has threads that each add 1 to a variable several times, half of them without the lock,
// and a main thread that detects lost updates.
func counters(threads, rounds int) *program {
	p := &program{vars: 1, locks: 1, life: true}
	var worker, main []instr
	add := []instr{{kind: kLoad}, {kind: kStore, b: 1}}
	for i := range rounds {
		if i%2 == 0 {
			worker = append(append(append(worker, instr{kind: kLock}), add...), instr{kind: kUnlock})
		} else {
			worker = append(worker, add...)
		}
	}
	for range threads {
		main = append(main, instr{kind: kCreate})
	}
	for i := range threads {
		main = append(main, instr{kind: kJoin, a: i})
	}
	main = append(main, instr{kind: kIf, b: threads * rounds, not: true, to: len(main) + 2}, instr{kind: kFail}, instr{kind: kExit})
	p.funcs = [][]instr{worker, main}
	p.start = []int{1}
	return p
}

// anyProgram returns the n-th program of the above kinds.
func anyProgram(n uint64) *program {
	d := seeded(n)
	switch n % 5 {
	case 0:
		return deepProgram(d)
	case 1:
		return familyProgram(d)
	default:
		return randomProgram(d, 3+d(10))
	}
}
