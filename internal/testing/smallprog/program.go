// Package smallprog generates small concurrent programs over all kinds of synchronisation, enumerates
// their outcomes by brute force, and runs them on the simulated machine and, through one C program that
// interprets them, on the C runtime. Tests compare what an exhaustive search saw with these outcomes.
//
// A program is a few threads, each with a few instructions over a few shared objects. An instruction
// that makes no sense in a thread's state, such as the unlock of a lock that the thread does not hold,
// does nothing, so every sequence of instructions is a valid program. Threads note what their instructions tell
// them, and main prints these notes, so an outcome shows what each thread has seen.
package smallprog

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Code is the operation of an instruction.
type Code byte

// The instructions. Object is a number of a word, mutex, … ; a letter is the code in the text form, which
// testdata/interpreter.c reads.
const (
	Load         Code = 'l' // notes the word
	Store        Code = 's' // the value
	Add          Code = 'a' // 1, and notes the sum
	Swap         Code = 'x' // 0 for the value; notes whether it was 0
	StoreByte    Code = 'b' // the second byte of the word; C only
	Assert       Code = 'q' // the word is not the value
	Lock         Code = 'L'
	TryLock      Code = 'T' // notes whether it has the lock
	Unlock       Code = 'U'
	ReadLock     Code = 'R'
	TryReadLock  Code = 'r'
	WriteLock    Code = 'W'
	TryWriteLock Code = 'w'
	RWUnlock     Code = 'u'
	Wait         Code = 'C' // for condition Object, with the mutex of that number
	Signal       Code = 'S'
	Broadcast    Code = 'B'
	Down         Code = 'D'
	TryDown      Code = 'd' // notes whether it did
	Up           Code = 'P'
	Count        Code = 'c' // notes the semaphore's count
	Arrive       Code = 'A' // notes whether the thread was the last
	Once         Code = 'O' // adds 4 to word Object once
	Start        Code = 'g' // thread Value
	Join         Code = 'j' // thread Value
	TryJoin      Code = 't' // thread Value; notes whether it ended
	Exit         Code = 'e' // the process, with status 3
	FutexWait    Code = 'f' // while the word has the value; notes whether it waited; C only
	FutexWake    Code = 'F' // one thread, or all if the value is 1; C only
	EventWrite   Code = 'v' // 1 to an eventfd; C only
	EventRead    Code = 'V' // notes the sum; C only
	PipeWrite    Code = 'i' // a byte; C only
	PipeRead     Code = 'I' // a byte; C only
)

// Instruction is one instruction of a thread.
type Instruction struct {
	Code   Code
	Object int
	Value  int
}

const (
	words    = 2
	mutexes  = 2 // and as many conditions
	maxCount = 4 // threads
)

// Program is a small program. Threads[0] is main.
type Program struct {
	Threads [][]Instruction
	Count   int  // of the semaphore, at first
	Size    int  // of the barrier
	Leaves  bool // main ends with pthread_exit; C only
}

// String returns the text form: the semaphore's count, the barrier's size, whether main leaves, and
// for each thread a word with three characters for each instruction.
func (p *Program) String() string {
	var b strings.Builder
	leaves := 0
	if p.Leaves {
		leaves = 1
	}
	fmt.Fprintf(&b, "%d%d%d", p.Count, p.Size, leaves)
	for _, t := range p.Threads {
		b.WriteString(" -")
		for _, i := range t {
			fmt.Fprintf(&b, "%c%d%d", i.Code, i.Object, i.Value)
		}
	}
	return b.String()
}

// Random returns a program of two to four threads. forC allows what only the C runtime has.
func Random(seed uint64, forC bool) Program {
	r := rand.New(rand.NewPCG(seed, 25))
	p := Program{Count: r.IntN(2), Size: 2 + r.IntN(2)}
	n := 2 + r.IntN(maxCount-1)
	// Few kinds in a program, so that its threads depend on one another.
	kinds := [][]Code{
		{Load, Store, Store, Add, Swap},
		{Lock, Unlock, Lock, Unlock, TryLock},
		{ReadLock, RWUnlock, WriteLock, RWUnlock, TryReadLock, TryWriteLock},
		{Lock, Wait, Signal, Broadcast, Unlock},
		{Down, Up, Up, TryDown, Count},
		{Arrive},
		{Once, Load},
		{Exit},
		{Assert},
	}
	if forC {
		kinds = append(kinds, []Code{FutexWait, FutexWake, Store}, []Code{EventWrite, EventRead}, []Code{PipeWrite, PipeRead}, []Code{StoreByte, Store, Load, Load})
		p.Leaves = r.IntN(6) == 0
	}
	var codes []Code
	for range 1 + r.IntN(3) {
		codes = append(codes, kinds[r.IntN(len(kinds))]...)
	}
	codes = append(codes, Load, Store)
	rare := func(c Code) bool { return c == Exit || c == Assert || c == Arrive }
	p.Threads = make([][]Instruction, n)
	random := func() Instruction {
		c := codes[r.IntN(len(codes))]
		for rare(c) && r.IntN(2) == 0 {
			c = codes[r.IntN(len(codes))]
		}
		return Instruction{c, r.IntN(2), r.IntN(3)}
	}
	for t := 1; t < n; t++ {
		for range 1 + r.IntN(5) {
			p.Threads[t] = append(p.Threads[t], random())
		}
	}
	// Main, or sometimes an earlier thread, starts each thread and joins it.
	for t := 1; t < n; t++ {
		by := 0
		if r.IntN(4) == 0 {
			by = r.IntN(t)
		}
		at := 0
		if by > 0 {
			at = r.IntN(len(p.Threads[by]) + 1)
		}
		body := append([]Instruction{}, p.Threads[by][:at]...)
		body = append(body, Instruction{Start, 0, t})
		rest := p.Threads[by][at:]
		if by == 0 {
			body = append(p.Threads[0], Instruction{Start, 0, t})
			rest = nil
		}
		body = append(body, rest...)
		if by > 0 && r.IntN(2) == 0 {
			body = append(body, Instruction{Join, 0, t})
		}
		p.Threads[by] = body
	}
	started := append([]Instruction{}, p.Threads[0]...)
	for range r.IntN(3) {
		p.Threads[0] = append(p.Threads[0], random())
	}
	for _, i := range started {
		switch r.IntN(6) {
		case 0:
		case 1:
			p.Threads[0] = append(p.Threads[0], Instruction{TryJoin, 0, i.Value})
			fallthrough
		default:
			p.Threads[0] = append(p.Threads[0], Instruction{Join, 0, i.Value})
		}
	}
	if !p.Leaves {
		p.Threads[0] = append(p.Threads[0], Instruction{Load, 0, 0}, Instruction{Load, 1, 0})
	}
	return p
}
