package ipc

import (
	"math/bits"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/trace"
)

// Stacks maps addresses to the threads whose stacks contain them, at the event being decoded. It is
// also the only place that maps slots, the elements of the runtime's sets, to threads.
type Stacks struct {
	threads []abi.ThreadInfo // by number
	owner   []trace.ThreadID // by slot
	mask    []uint64         // by slot: enabled at the last event
	enabled trace.ThreadSet  // the same by thread; events may share it

	// The last result of alone.
	few     bool
	fewMask uint64
	fewSet  trace.ThreadSet
}

// know records what the runtime reports of a thread. The last report counts.
func (s *Stacks) know(info abi.ThreadInfo) error {
	i := int(info.Number)
	if i >= trace.MaxThreads {
		return errDamaged
	}
	for len(s.threads) <= i {
		s.threads = append(s.threads, abi.ThreadInfo{Number: ^uint32(0)})
	}
	s.threads[i] = info
	return nil
}

// info returns the state of thread t, nil if it is unknown.
func (s *Stacks) info(t trace.ThreadID) *abi.ThreadInfo {
	if t >= 0 && int(t) < len(s.threads) && s.threads[t].Number == uint32(t) {
		return &s.threads[t]
	}
	return nil
}

func contains(th *abi.ThreadInfo, addr uint64) bool {
	return th != nil && addr < th.StackHi && addr >= th.StackHi-th.StackSize
}

// Of returns the thread on whose stack addr lies, nil if it lies on none. Where a program has given
// several threads the same memory, it prefers by, then the younger thread.
func (s *Stacks) Of(addr uint64, by trace.ThreadID) *abi.ThreadInfo {
	if th := s.info(by); contains(th, addr) {
		return th
	}
	var found *abi.ThreadInfo
	for _, t := range s.owner {
		if th := s.info(t); contains(th, addr) && (found == nil || found.Number < th.Number) {
			found = th
		}
	}
	return found
}

// give makes thread t the owner of a slot.
func (s *Stacks) give(slot uint64, t trace.ThreadID) {
	if slot >= abi.MaxThreads {
		return // the program has overwritten it
	}
	s.grow(int(slot) + 1)
	if w, b := slot/64, uint64(1)<<(slot%64); s.mask[w]&b != 0 {
		s.mask[w] &^= b
		s.enabled = s.enabled.Clone()
		s.enabled.Remove(s.owner[slot])
	}
	s.owner[slot] = t
	s.few = false
}

// grow makes room for n slots. Until a thread is reported, its slot is its number.
func (s *Stacks) grow(n int) {
	for len(s.owner) < n {
		s.owner = append(s.owner, trace.ThreadID(len(s.owner)))
	}
	for 64*len(s.mask) < n {
		s.mask = append(s.mask, 0)
	}
}

// alone returns the threads whose slots are in low, for an event that has no other slots.
func (s *Stacks) alone(low uint64) trace.ThreadSet {
	if s.few && low == s.fewMask {
		return s.fewSet // most sets equal the one before
	}
	s.grow(64)
	s.few, s.fewMask, s.fewSet = true, low, trace.ThreadSet{}
	for ; low != 0; low &= low - 1 {
		s.fewSet.Add(s.owner[bits.TrailingZeros64(low)])
	}
	return s.fewSet
}

// set returns the threads whose slots are in low (0 to 63) and high (64 and above).
func (s *Stacks) set(low uint64, high []uint64) trace.ThreadSet {
	for len(high) > 0 && high[len(high)-1] == 0 {
		high = high[:len(high)-1]
	}
	s.grow(64 * (1 + len(high)))
	cloned := false
	for w := range s.mask {
		now := low
		if w > 0 {
			now = 0
			if w <= len(high) {
				now = high[w-1]
			}
		}
		for diff := now ^ s.mask[w]; diff != 0; diff &= diff - 1 {
			if !cloned {
				cloned = true
				s.enabled = s.enabled.Clone()
			}
			b := bits.TrailingZeros64(diff)
			if t := s.owner[64*w+b]; now>>b&1 != 0 {
				s.enabled.Add(t)
			} else {
				s.enabled.Remove(t)
			}
		}
		s.mask[w] = now
	}
	return s.enabled
}
