package trace

import (
	"math/bits"
	"strconv"
)

// String is the set in braces, runs of three and more as a range: {0,1,3-6}.
func (s ThreadSet) String() string {
	b := []byte{'{'}
	first, last := -2, -2
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
	words := func(base int, w uint64) {
		for ; w != 0; w &= w - 1 {
			t := base + bits.TrailingZeros64(w)
			if t != last+1 {
				end()
				first = t
			}
			last = t
		}
	}
	words(0, s.Low)
	for i, w := range s.High {
		words(64*(i+1), w)
	}
	end()
	return string(append(b, '}'))
}

// toggle adds t if it is not in the set and takes it out if it is.
func (s *ThreadSet) toggle(t ThreadID) {
	if !s.Has(t) {
		s.Add(t)
	} else if t < 64 {
		s.Low &^= 1 << uint(t)
	} else {
		s.High[t/64-1] &^= 1 << (uint(t) % 64)
	}
}

// trim drops words without threads from the end, so that equal sets are built alike.
func (s *ThreadSet) trim() {
	for len(s.High) > 0 && s.High[len(s.High)-1] == 0 {
		s.High = s.High[:len(s.High)-1]
	}
	if len(s.High) == 0 {
		s.High = nil
	}
}

// last is the largest thread in the set, -1 if it is empty.
func (s ThreadSet) last() ThreadID {
	for i := len(s.High) - 1; i >= 0; i-- {
		if s.High[i] != 0 {
			return ThreadID(64*(i+1) + bits.Len64(s.High[i]) - 1)
		}
	}
	return ThreadID(bits.Len64(s.Low) - 1)
}

// firstOutside is the smallest thread that is in s and not in o, -1 if there is none.
func (s ThreadSet) firstOutside(o ThreadSet) ThreadID {
	if w := s.Low &^ o.Low; w != 0 {
		return ThreadID(bits.TrailingZeros64(w))
	}
	for i := range s.High {
		if w := s.High[i] &^ wordAt(o.High, i); w != 0 {
			return ThreadID(64*(i+1) + bits.TrailingZeros64(w))
		}
	}
	return -1
}

func wordAt(w []uint64, i int) uint64 {
	if i < len(w) {
		return w[i]
	}
	return 0
}
