package smallprog

import (
	"fmt"
	"slices"
	"strings"
)

// state is a state of a program's execution. It is comparable, so states that several interleavings
// reach are visited once.
type state struct {
	words   [words]uint32
	mutexes [mutexes]int8 // the holder plus one
	writer  int8          // of the reader-writer lock, plus one
	readers uint8         // a bit for each thread
	waiting [mutexes]uint8
	futex   [words]uint8
	count   int8  // of the semaphore
	arrived uint8 // at the barrier
	once    int8  // 0, a thread plus one that runs it, or done
	event   int8
	pipe    int8
	threads [maxCount]thread
}

const done = 100

type thread struct {
	stage  int8 // absent, alive or ended
	at     int8 // the next instruction
	phase  int8 // within an instruction of several operations
	joined uint8
	notes  string
}

const (
	absent int8 = iota
	alive
	ended
)

// Enumerate returns all outcomes of a program, in order. ok is false if it has more than most states.
func (p *Program) Enumerate(most int) (outcomes []string, ok bool) {
	all := map[string]bool{}
	var first state
	first.count = int8(p.Count)
	first.threads[0].stage = alive
	p.settle(&first, 0)
	seen := map[state]bool{first: true}
	todo := []state{first}
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		moved := false
		for t := range p.Threads {
			if s.threads[t].stage != alive {
				continue
			}
			next, over := p.perform(s, t)
			for _, o := range over {
				all[o], moved = true, true
			}
			for _, n := range next {
				moved = true
				if !seen[n] {
					if len(seen) == most {
						return nil, false
					}
					seen[n] = true
					todo = append(todo, n)
				}
			}
		}
		if !moved {
			all[p.deadlock(&s)] = true
		}
	}
	for o := range all {
		outcomes = append(outcomes, o)
	}
	slices.Sort(outcomes)
	return outcomes, true
}

// deadlock is the outcome of a state in which no thread can go on: what the threads wait in.
func (p *Program) deadlock(s *state) string {
	var in []string
	for t := range p.Threads {
		if s.threads[t].stage == alive {
			code := p.Threads[t][s.threads[t].at].Code
			switch code { // as in Outcome, which does not tell them apart
			case PipeRead:
				code = EventRead
			case ReadLock:
				code = WriteLock
			}
			in = append(in, string(code))
		}
	}
	slices.Sort(in)
	return "deadlock " + strings.Join(in, "")
}

// shown is what is printed when main ends: the notes of main and of the threads that it joined, or
// of all threads if main leaves.
func (p *Program) shown(s *state) string {
	var b strings.Builder
	for t := range p.Threads {
		if t == 0 || s.threads[0].joined>>t&1 == 1 || p.Leaves {
			fmt.Fprintf(&b, "%d:%s;", t, s.threads[t].notes)
		}
	}
	return b.String()
}

// settle passes over the instructions that do nothing in the thread's state.
func (p *Program) settle(s *state, t int) {
	th := &s.threads[t]
	for int(th.at) < len(p.Threads[t]) && th.phase == 0 {
		i := p.Threads[t][th.at]
		bit := uint8(1) << t
		nothing := false
		switch i.Code {
		case Lock, TryLock:
			nothing = s.mutexes[i.Object] == int8(t)+1
		case Unlock, Wait:
			nothing = s.mutexes[i.Object] != int8(t)+1
		case ReadLock, TryReadLock, WriteLock, TryWriteLock:
			nothing = s.writer == int8(t)+1 || s.readers&bit != 0
		case RWUnlock:
			nothing = s.writer != int8(t)+1 && s.readers&bit == 0
		case Join, TryJoin:
			nothing = th.joined>>i.Value&1 == 1
		}
		if !nothing {
			return
		}
		th.at++
	}
}

// wakeOne returns the states in which t has woken one of the waiters, for each of these.
func (p *Program) wakeOne(s state, t int, waiters func(*state) *uint8) (next []state) {
	for u := range p.Threads {
		if *waiters(&s)>>u&1 == 0 {
			continue
		}
		n := s
		*waiters(&n) &^= 1 << u
		n.threads[t].at++
		p.settle(&n, t)
		next = append(next, n)
	}
	return next
}

// perform returns the states that thread t's next operation leads to, several if it can have several
// results, or the outcome with which it ends the execution; nothing if the thread is blocked.
func (p *Program) perform(s state, t int) (next []state, over []string) {
	th := &s.threads[t]
	bit, me := uint8(1)<<t, int8(t)+1
	if int(th.at) == len(p.Threads[t]) {
		if t == 0 && !p.Leaves {
			return nil, []string{"clean " + p.shown(&s)}
		}
		th.stage = ended
		if !slices.ContainsFunc(s.threads[:], func(u thread) bool { return u.stage == alive }) {
			return nil, []string{"clean " + p.shown(&s)}
		}
		return []state{s}, nil
	}
	i := p.Threads[t][th.at]
	o := i.Object
	note := func(v uint32) { th.notes += fmt.Sprintf("%x,", v) }
	yes := func(b bool) {
		if b {
			note(1)
		} else {
			note(0)
		}
	}
	passed := true // the instruction is over
	switch i.Code {
	case Load:
		note(s.words[o])
	case Store:
		s.words[o] = uint32(i.Value)
	case Add:
		s.words[o]++
		note(s.words[o])
	case Swap:
		yes(s.words[o] == 0)
		if s.words[o] == 0 {
			s.words[o] = uint32(i.Value)
		}
	case StoreByte:
		s.words[o] = s.words[o]&^0xff00 | uint32(i.Value)<<8
	case Assert:
		if th.phase == 1 {
			return nil, []string{"assertion"}
		}
		if s.words[o] == uint32(i.Value) {
			th.phase, passed = 1, false
		}
	case Lock, TryLock:
		if s.mutexes[o] == 0 {
			s.mutexes[o] = me
		} else if i.Code == Lock {
			return nil, nil
		}
		if i.Code == TryLock {
			yes(s.mutexes[o] == me)
		}
	case Unlock:
		s.mutexes[o] = 0
	case ReadLock, TryReadLock:
		if s.writer == 0 {
			s.readers |= bit
		} else if i.Code == ReadLock {
			return nil, nil
		}
		if i.Code == TryReadLock {
			yes(s.readers&bit != 0)
		}
	case WriteLock, TryWriteLock:
		if s.writer == 0 && s.readers == 0 {
			s.writer = me
		} else if i.Code == WriteLock {
			return nil, nil
		}
		if i.Code == TryWriteLock {
			yes(s.writer == me)
		}
	case RWUnlock:
		if s.writer == me {
			s.writer = 0
		}
		s.readers &^= bit
	case Wait:
		if th.phase == 0 {
			s.mutexes[o] = 0
			s.waiting[o] |= bit
			th.phase, passed = 1, false
			break
		}
		if s.waiting[o]&bit != 0 || s.mutexes[o] != 0 {
			return nil, nil
		}
		s.mutexes[o] = me
		th.phase = 0
	case Signal:
		if s.waiting[o] == 0 {
			break
		}
		return p.wakeOne(s, t, func(n *state) *uint8 { return &n.waiting[o] }), nil
	case Broadcast:
		s.waiting[o] = 0
	case Down, TryDown:
		can := s.count > 0
		if can {
			s.count--
		} else if i.Code == Down {
			return nil, nil
		}
		if i.Code == TryDown {
			yes(can)
		}
	case Up:
		s.count++
	case Count:
		note(uint32(s.count))
	case Arrive:
		if th.phase == 0 {
			s.arrived |= bit
			th.phase, passed = 1, false
			n := 0
			for u := range p.Threads {
				n += int(s.arrived >> u & 1)
			}
			yes(n == p.Size)
			if n == p.Size {
				s.arrived = 0
			}
			break
		}
		if s.arrived&bit != 0 {
			return nil, nil
		}
		th.phase = 0
	case Once:
		switch {
		case th.phase == 1:
			s.words[o] += 4
			th.phase, passed = 2, false
		case th.phase == 2:
			s.once, th.phase = done, 0
		case s.once == 0:
			s.once, th.phase, passed = me, 1, false
		case s.once != done:
			return nil, nil
		}
	case Start:
		s.threads[i.Value].stage = alive
		p.settle(&s, i.Value)
	case Join, TryJoin:
		can := s.threads[i.Value].stage == ended
		if can {
			th.joined |= 1 << i.Value
		} else if i.Code == Join {
			return nil, nil
		}
		if i.Code == TryJoin {
			yes(can)
		}
	case Exit:
		return nil, []string{"exit"}
	case FutexWait:
		switch {
		case th.phase == 0 && s.words[o] != uint32(i.Value):
			note(0)
		case th.phase == 0:
			s.futex[o] |= bit
			th.phase, passed = 1, false
		case s.futex[o]&bit != 0:
			return nil, nil
		default:
			note(1)
			th.phase = 0
		}
	case FutexWake:
		if i.Value == 1 {
			s.futex[o] = 0
			break
		}
		if s.futex[o] == 0 {
			break
		}
		return p.wakeOne(s, t, func(n *state) *uint8 { return &n.futex[o] }), nil
	case EventWrite:
		s.event++
	case EventRead:
		if s.event == 0 {
			return nil, nil
		}
		note(uint32(s.event))
		s.event = 0
	case PipeWrite:
		s.pipe++
	case PipeRead:
		if s.pipe == 0 {
			return nil, nil
		}
		s.pipe--
	}
	if passed {
		th.at++
		p.settle(&s, t)
	}
	return []state{s}, nil
}
