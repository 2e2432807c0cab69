package canonical

import (
	"bytes"
	"hash/maphash"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/heddle-dev/heddle/trace"
)

// After a deviation in control, a thread's events correspond to the other's again from the nearest place on at which both
// execute the same: the one with the fewest events before it where rejoinRun events in a row are the same operations at the
// same instructions, or all that are left of both threads.
const (
	rejoinRun   = 8
	rejoinReach = 4096 // events of each execution that are searched
)

// ahead are the lines of a thread, some of which have been read in advance.
type ahead struct {
	lines
	key   func(line []byte) uint64
	queue []upcoming
	ended bool // all lines are in queue
}

type upcoming struct {
	line  []byte
	index int
	key   uint64 // equal for events that are the same operation at the same instruction
}

// next returns the next line, nil after the last. It is valid until the next call.
func (a *ahead) next() ([]byte, int, error) {
	if len(a.queue) > 0 {
		first := &a.queue[0]
		a.queue = a.queue[1:]
		return first.line, first.index, nil
	}
	if a.ended {
		return nil, -1, nil
	}
	return next(a.lines)
}

// unread puts the line that next returned back.
func (a *ahead) unread(line []byte, index int) {
	a.queue = slices.Insert(a.queue, 0, upcoming{bytes.Clone(line), index, a.key(line)})
}

// fill reads ahead until n lines are in the queue, or all.
func (a *ahead) fill(n int) error {
	for len(a.queue) < n && !a.ended {
		line, index, err := next(a.lines)
		if err != nil {
			return err
		}
		if line == nil {
			a.ended = true
			return nil
		}
		a.queue = append(a.queue, upcoming{bytes.Clone(line), index, a.key(line)})
	}
	return nil
}

// runs calls f with the hash of each run of rejoinRun events that begins at one of the first n, in order, until f returns
// false. Behind the last event of the thread come events that only equal those behind the last of another thread.
func (a *ahead) runs(n int, f func(at int, run uint64) bool) {
	for at := range min(n, len(a.queue)) {
		run := uint64(14695981039346656037)
		for k := at; k < at+rejoinRun; k++ {
			var key uint64
			if k < len(a.queue) {
				key = a.queue[k].key
			} else if !a.ended {
				return
			}
			run = (run ^ key) * 1099511628211
		}
		if !f(at, run) {
			return
		}
	}
}

// rejoin returns how many events of either to pass over to the place where the executions are the same again; false if none
// is within reach.
func rejoin(a, b *ahead) (skipped, extra int, ok bool, err error) {
	for reach := 4 * rejoinRun; reach <= rejoinReach && !ok; reach *= 4 {
		for _, x := range []*ahead{a, b} {
			if err := x.fill(reach + rejoinRun); err != nil {
				return 0, 0, false, err
			}
		}
		first := map[uint64]int{}
		b.runs(reach, func(at int, run uint64) bool {
			if _, known := first[run]; !known {
				first[run] = at
			}
			return true
		})
		a.runs(reach, func(at int, run uint64) bool {
			if ok && at >= skipped+extra {
				return false
			}
			if to, found := first[run]; found && (!ok || at+to < skipped+extra) {
				skipped, extra, ok = at, to, true
			}
			return true
		})
	}
	return skipped, extra, ok, nil
}

var keySeed = maphash.MakeSeed()

// keyOf returns what the events of an execution are recognised by.
func keyOf(n Names) func(line []byte) uint64 {
	return func(line []byte) uint64 {
		e := split(line)
		size := e.Size
		if slices.Contains(sized, e.Op) {
			size = ""
		}
		return maphash.String(keySeed, e.Op+" "+siteOf(n, &e)+" "+size)
	}
}

// shifts say which blocks of the other execution are which of the golden one after the threads that allocate them have
// rejoined: blocks are numbered by their thread, and passing over an allocation changes the numbers of all later ones.
type shifts map[string][]shift // by thread, ascending

// shift is of a thread's blocks from one number of the other execution on.
type shift struct {
	from, by int
	none     bool // the golden execution does not have them
}

// blockOf splits the name of a place in a block: T0.1:h6+8.
func blockOf(place string) (thread string, number int, rest string, ok bool) {
	thread, rest, ok = strings.Cut(place, ":h")
	if !ok {
		return
	}
	i := strings.IndexByte(rest, '+')
	if i < 0 {
		return "", 0, "", false
	}
	number, err := strconv.Atoi(rest[:i])
	return thread, number, rest[i:], err == nil
}

// place returns the golden execution's name of a place of the other one.
func (s shifts) place(place string) string {
	thread, number, rest, ok := blockOf(place)
	if !ok {
		return place
	}
	list := s[thread]
	i := sort.Search(len(list), func(i int) bool { return list[i].from > number })
	switch {
	case i == 0:
		return place
	case list[i-1].none:
		return place + " of the other execution"
	}
	return thread + ":h" + strconv.Itoa(number+list[i-1].by) + rest
}

// passOver notes an event of the other execution to which none corresponds.
func (s shifts) passOver(line []byte) {
	e := split(line)
	if thread, number, _, ok := blockOf(e.Place); ok && e.Op == trace.OpMalloc.String() {
		if list := s[thread]; len(list) == 0 || !list[len(list)-1].none {
			s[thread] = append(list, shift{from: number, none: true})
		}
	}
}

// match notes two allocations that correspond.
func (s shifts) match(golden, other *Event) {
	thread, number, _, ok := blockOf(other.Place)
	of, to, _, both := blockOf(golden.Place)
	if !ok || !both || of != thread || other.Op != trace.OpMalloc.String() {
		return
	}
	now := shift{from: number, by: to - number}
	if list := s[thread]; len(list) > 0 && (list[len(list)-1].none || list[len(list)-1].by != now.by) || len(list) == 0 && now.by != 0 {
		s[thread] = append(list, now)
	}
}
