package trace

import (
	"iter"
	"math/bits"
	"slices"
	"strconv"
)

// ThreadSet is a set of thread ids. The zero value is empty. An execution may have a hundred
// thousand threads, few of which are in any set; a set takes memory for these only.
type ThreadSet struct {
	Low  uint64       // threads 0..63
	High []ThreadWord // threads 64.., ascending; nil for most programs
}

// ThreadWord holds the threads 64*Index to 64*Index+63 of a set, one bit each. Index is at least 1
// and Bits is not 0.
type ThreadWord struct {
	Index uint32
	Bits  uint64
}

// find returns where the word with that index is in High, or would be.
func (s ThreadSet) find(index uint32) (int, bool) {
	if n := len(s.High); n == 0 || s.High[n-1].Index < index {
		return n, false
	}
	return slices.BinarySearchFunc(s.High, index, func(w ThreadWord, index uint32) int { return int(w.Index) - int(index) })
}

// Has reports whether t is in the set.
func (s ThreadSet) Has(t ThreadID) bool {
	if t < 0 {
		return false
	}
	if t < 64 {
		return s.Low>>uint(t)&1 != 0
	}
	i, ok := s.find(uint32(t) / 64)
	return ok && s.High[i].Bits>>(uint(t)%64)&1 != 0
}

// Add adds t to the set.
func (s *ThreadSet) Add(t ThreadID) {
	if t < 64 {
		s.Low |= 1 << uint(t)
		return
	}
	i, ok := s.find(uint32(t) / 64)
	if !ok {
		s.High = slices.Insert(s.High, i, ThreadWord{Index: uint32(t) / 64})
	}
	s.High[i].Bits |= 1 << (uint(t) % 64)
}

// Remove removes t from the set.
func (s *ThreadSet) Remove(t ThreadID) {
	if t < 64 {
		s.Low &^= 1 << uint(t)
		return
	}
	i, ok := s.find(uint32(t) / 64)
	if !ok {
		return
	}
	if s.High[i].Bits &^= 1 << (uint(t) % 64); s.High[i].Bits == 0 {
		if s.High = slices.Delete(s.High, i, i+1); len(s.High) == 0 {
			s.High = nil
		}
	}
}

// Clone returns a copy that shares no memory with s.
func (s ThreadSet) Clone() ThreadSet { return ThreadSet{s.Low, slices.Clone(s.High)} }

// Len returns the number of threads in the set.
func (s ThreadSet) Len() int {
	n := bits.OnesCount64(s.Low)
	for _, w := range s.High {
		n += bits.OnesCount64(w.Bits)
	}
	return n
}

// Equal reports whether both sets hold the same threads.
func (s ThreadSet) Equal(o ThreadSet) bool {
	if s.Low != o.Low || len(s.High) != len(o.High) {
		return false
	}
	return len(s.High) == 0 || &s.High[0] == &o.High[0] || slices.Equal(s.High, o.High)
}

// All iterates over the threads of the set in ascending order.
func (s ThreadSet) All() iter.Seq[ThreadID] {
	return func(yield func(ThreadID) bool) {
		for w := s.Low; w != 0; w &= w - 1 {
			if !yield(ThreadID(bits.TrailingZeros64(w))) {
				return
			}
		}
		for _, h := range s.High {
			for w := h.Bits; w != 0; w &= w - 1 {
				if !yield(ThreadID(int(h.Index)*64 + bits.TrailingZeros64(w))) {
					return
				}
			}
		}
	}
}

// String returns the set in braces, with runs of three or more as a range: {0,1,3-6}.
func (s ThreadSet) String() string {
	b := []byte{'{'}
	first, last := ThreadID(-2), ThreadID(-2)
	end := func() {
		if first < 0 {
			return
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(first), 10)
		switch {
		case last == first+1:
			b = append(b, ',')
			b = strconv.AppendInt(b, int64(last), 10)
		case last > first:
			b = append(b, '-')
			b = strconv.AppendInt(b, int64(last), 10)
		}
	}
	for t := range s.All() {
		if t != last+1 {
			end()
			first = t
		}
		last = t
	}
	end()
	return string(append(b, '}'))
}

// toggle adds t if it is not in the set and removes it if it is.
func (s *ThreadSet) toggle(t ThreadID) {
	if s.Has(t) {
		s.Remove(t)
	} else {
		s.Add(t)
	}
}

// last returns the largest thread in the set, -1 if it is empty.
func (s ThreadSet) last() ThreadID {
	if n := len(s.High); n > 0 {
		return ThreadID(int(s.High[n-1].Index)*64 + bits.Len64(s.High[n-1].Bits) - 1)
	}
	return ThreadID(bits.Len64(s.Low) - 1)
}

// firstOutside returns the smallest thread that is in s and not in o, -1 if none exists.
func (s ThreadSet) firstOutside(o ThreadSet) ThreadID {
	if w := s.Low &^ o.Low; w != 0 {
		return ThreadID(bits.TrailingZeros64(w))
	}
	i := 0
	for _, h := range s.High {
		for i < len(o.High) && o.High[i].Index < h.Index {
			i++
		}
		w := h.Bits
		if i < len(o.High) && o.High[i].Index == h.Index {
			w &^= o.High[i].Bits
		}
		if w != 0 {
			return ThreadID(int(h.Index)*64 + bits.TrailingZeros64(w))
		}
	}
	return -1
}

// changes calls f in ascending order for each thread that is in exactly one of the two sets.
func (s ThreadSet) changes(o ThreadSet, f func(ThreadID)) {
	word := func(base int, w uint64) {
		for ; w != 0; w &= w - 1 {
			f(ThreadID(base + bits.TrailingZeros64(w)))
		}
	}
	word(0, s.Low^o.Low)
	a, b := s.High, o.High
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].Index < b[0].Index:
			word(int(a[0].Index)*64, a[0].Bits)
			a = a[1:]
		case len(a) == 0 || b[0].Index < a[0].Index:
			word(int(b[0].Index)*64, b[0].Bits)
			b = b[1:]
		default:
			word(int(a[0].Index)*64, a[0].Bits^b[0].Bits)
			a, b = a[1:], b[1:]
		}
	}
}
