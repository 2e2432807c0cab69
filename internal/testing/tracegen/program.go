package tracegen

import (
	"math/rand/v2"

	"github.com/heddle-dev/heddle/trace"
)

// Where things are in the programs' memory.
const (
	varsAt = 0x1000
	syncAt = 0x100000
)

func global(at uint64) trace.Object { return trace.MakeObject(trace.RegionGlobal, 0, at) }

// sync is the n-th synchronisation object of a sort.
func sync(sort, n int) trace.Object { return global(syncAt + uint64(sort)*0x1000 + uint64(n)*64) }

const (
	mutexes = iota
	spins
	rwlocks
	conds
	semas
	barriers
	onces
	futexes
)

// programmer writes the programs of one machine.
type programmer struct {
	r      *rand.Rand
	area   uint64 // bytes of variables
	allocs int    // blocks left to allocate
	depth  int
	calls  int // instructions in out that enter or leave functions
	out    []instr
}

// programs makes random programs of a number of threads and a rough length, each created
// by one of a lower number.
func programs(r *rand.Rand, threads, length int, big bool) [][]instr {
	progs := make([][]instr, threads)
	p := &programmer{r: r, area: 32, allocs: heapBlocks}
	if big {
		p.area = 3 * 4096
	}
	for t := range progs {
		p.out, p.calls = nil, 0
		if t == 0 {
			p.add(instr{op: trace.OpBarrierInit, at: sync(barriers, 0), value: 2})
			p.add(instr{op: trace.OpSemInit, at: sync(semas, 0), value: uint64(r.IntN(2))})
		}
		own := p.allocs > 0 && r.IntN(2) == 0
		if own {
			p.allocs--
			p.add(instr{op: trace.OpYield}, instr{op: trace.OpMalloc, quiet: true},
				instr{op: trace.OpWrite, at: global(varsAt - 64), size: 8, into: ownReg})
		}
		for len(p.out)-p.calls < length {
			p.piece(own)
		}
		if own && r.IntN(2) == 0 {
			p.add(instr{op: trace.OpFree})
		}
		progs[t] = p.out
	}
	for t := threads - 1; t > 0; t-- {
		parent := r.IntN(t)
		if r.IntN(2) == 0 {
			parent = 0
		}
		at := 0
		if parent == 0 {
			at = 2 // after what main initialises
		}
		at = boundary(r, progs[parent], at)
		progs[parent] = insert(progs[parent], at, instr{op: trace.OpThreadCreate, value: uint64(t)})
		if t%2 == 0 { // recordings always have it, other tools' traces never
			at++
			progs[parent] = insert(progs[parent], at, instr{op: trace.OpThreadCreated, value: uint64(t)})
		}
		if r.IntN(2) == 0 {
			progs[parent] = insert(progs[parent], boundary(r, progs[parent], at+1), instr{op: trace.OpThreadJoin, value: uint64(t)})
		}
	}
	if r.IntN(3) == 0 {
		progs[0] = append(progs[0], instr{op: trace.OpProcessExit})
	}
	return progs
}

// boundary is a place in a program, not before from, that is inside no skipped stretch
// and in front of no quiet instruction.
func boundary(r *rand.Rand, prog []instr, from int) int {
	inside := 0
	var at []int
	for i, in := range prog {
		if i >= from && inside == 0 && !in.quiet {
			at = append(at, i)
		}
		inside = max(inside-1, in.skip)
	}
	at = append(at, len(prog))
	return at[r.IntN(len(at))]
}

func insert(prog []instr, at int, in instr) []instr {
	out := append([]instr(nil), prog[:at]...)
	return append(append(out, in), prog[at:]...)
}

func (p *programmer) add(in ...instr) { p.out = append(p.out, in...) }

// within adds a skippable stretch: what body adds is omitted where the first fails.
func (p *programmer) within(first instr, body func(), last instr) {
	at := len(p.out)
	p.add(first)
	p.depth++
	body()
	p.depth--
	p.add(last)
	switch first.op {
	case trace.OpMutexTrylock, trace.OpMutexTimedlock, trace.OpSpinTrylock, trace.OpRwlockTryrdlock, trace.OpRwlockTrywrlock,
		trace.OpRwlockTimedrdlock, trace.OpRwlockTimedwrlock, trace.OpOnceBegin:
		p.out[at].skip = len(p.out) - at - 1
	}
}

func (p *programmer) access() {
	ops := []trace.Op{trace.OpRead, trace.OpRead, trace.OpRead, trace.OpWrite, trace.OpWrite, trace.OpAtomicLoad, trace.OpAtomicStore, trace.OpAtomicRmw, trace.OpAtomicCas}
	in := instr{op: ops[p.r.IntN(len(ops))], size: 1 << p.r.IntN(4), at: global(varsAt + p.r.Uint64N(p.area)), quiet: len(p.out) > 0 && p.r.IntN(10) == 0}
	if p.area > 100 && p.r.IntN(3) == 0 {
		in.op = []trace.Op{trace.OpReadRange, trace.OpWriteRange}[p.r.IntN(2)]
		in.size = uint32(1 + p.r.IntN(int(p.area)))
	}
	p.add(in)
}

func (p *programmer) accesses() {
	for range p.r.IntN(3) {
		p.access()
	}
}

// piece adds something a program does.
func (p *programmer) piece(own bool) {
	r := p.r
	mutex := sync(mutexes, r.IntN(2))
	kind := r.IntN(18)
	if p.depth > 1 {
		kind = 0
	}
	if len(p.out) > 0 && r.IntN(8) == 0 {
		p.calls += 2
		p.add(instr{op: trace.OpFunctionEntry, quiet: true})
		defer p.add(instr{op: trace.OpFunctionExit, quiet: true})
	}
	switch kind {
	default:
		p.access()
	case 5, 6:
		p.within(instr{op: trace.OpMutexLock, at: mutex}, func() { p.accesses(); p.maybe(own) }, instr{op: trace.OpMutexUnlock, at: mutex})
	case 7:
		op := []trace.Op{trace.OpMutexTrylock, trace.OpMutexTimedlock}[r.IntN(2)]
		p.within(instr{op: op, at: mutex, timed: op == trace.OpMutexTimedlock}, p.accesses, instr{op: trace.OpMutexUnlock, at: mutex})
	case 8:
		op := []trace.Op{trace.OpSpinLock, trace.OpSpinTrylock}[r.IntN(2)]
		p.within(instr{op: op, at: sync(spins, 0)}, p.accesses, instr{op: trace.OpSpinUnlock, at: sync(spins, 0)})
	case 9, 10:
		ops := []trace.Op{trace.OpRwlockRdlock, trace.OpRwlockRdlock, trace.OpRwlockTryrdlock, trace.OpRwlockTimedrdlock,
			trace.OpRwlockWrlock, trace.OpRwlockTrywrlock, trace.OpRwlockTimedwrlock}
		if p.depth > 0 {
			break
		}
		op, which := ops[r.IntN(len(ops))], r.IntN(2)
		at, timed := sync(rwlocks, which), op == trace.OpRwlockTimedrdlock || op == trace.OpRwlockTimedwrlock
		if which == 1 && (op == trace.OpRwlockWrlock || op == trace.OpRwlockTimedwrlock) {
			p.add(instr{op: trace.OpRwlockQueue, at: at}) // of the kind that prefers writers
		}
		p.within(instr{op: op, at: at, timed: timed}, p.accesses, instr{op: trace.OpRwlockUnlock, at: at})
	case 11:
		if p.depth == 0 {
			p.within(instr{op: trace.OpMutexLock, at: mutex}, func() {
				p.accesses()
				p.add(instr{op: trace.OpCondWait, at: sync(conds, 0), mutex: mutex, timed: r.IntN(2) == 0})
				p.accesses()
			}, instr{op: trace.OpMutexUnlock, at: mutex})
		}
	case 12:
		p.add(instr{op: []trace.Op{trace.OpCondSignal, trace.OpCondSignal, trace.OpCondBroadcast}[r.IntN(3)], at: sync(conds, 0)})
	case 13:
		p.add(instr{op: trace.OpSemPost, at: sync(semas, 0)})
	case 14:
		op := []trace.Op{trace.OpSemWait, trace.OpSemTrywait, trace.OpSemTimedwait, trace.OpSemGetvalue}[r.IntN(4)]
		p.add(instr{op: op, at: sync(semas, 0), timed: op == trace.OpSemTimedwait})
	case 15:
		if p.depth == 0 && r.IntN(2) == 0 {
			p.add(instr{op: trace.OpBarrierWait, at: sync(barriers, 0), value: 2})
		} else {
			p.add(instr{op: []trace.Op{trace.OpYield, trace.OpSleep, trace.OpAtomicFence}[r.IntN(3)]})
		}
	case 16:
		p.within(instr{op: trace.OpOnceBegin, at: sync(onces, 0)}, p.accesses, instr{op: trace.OpOnceEnd, at: sync(onces, 0)})
	case 17:
		switch r.IntN(4) {
		case 0:
			p.add(instr{op: trace.OpFutexWait, at: sync(futexes, 0), size: 4, timed: r.IntN(2) == 0})
		case 1:
			p.add(instr{op: trace.OpAtomicRmw, at: sync(futexes, 0), size: 4}, instr{op: trace.OpFutexWake, at: sync(futexes, 0)})
		default:
			p.heap(own)
		}
	}
}

func (p *programmer) maybe(own bool) {
	if p.r.IntN(3) == 0 {
		p.piece(own)
	}
}

// heap uses a block: the thread's own, or one that another thread published and may have
// freed since.
func (p *programmer) heap(own bool) {
	via := seenReg
	if own && p.r.IntN(2) == 0 {
		via = ownReg
	} else {
		p.add(instr{op: trace.OpRead, at: global(varsAt - 64), size: 8, into: seenReg})
	}
	op := []trace.Op{trace.OpRead, trace.OpWrite}[p.r.IntN(2)]
	p.add(instr{op: op, at: trace.Object(8 * p.r.IntN(3)), size: 8, via: via})
	if p.r.IntN(2) == 0 {
		p.within(instr{op: trace.OpMutexLock, at: 32, via: via}, p.accesses, instr{op: trace.OpMutexUnlock, at: 32, via: via})
	}
}
