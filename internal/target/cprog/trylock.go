package cprog

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/internal/symbol"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/trace"
)

// TryLockError says in one sentence why a lock cannot be tried.
type TryLockError struct{ Reason string }

func (e *TryLockError) Error() string { return e.Reason }

func badTry(format string, args ...any) error { return &TryLockError{fmt.Sprintf(format, args...)} }

// triedRange is a parsed element of Config.TryLock.
type triedRange struct {
	text     string
	lock     string
	file     sourceFile
	from, to int
}

// parseTry reads LOCK@FILE:FROM-TO, or LOCK@FILE:LINE.
func parseTry(s string) (r triedRange, err error) {
	lock, place, ok := strings.Cut(s, "@")
	i := strings.LastIndexByte(place, ':')
	if !ok || lock == "" || i < 1 {
		return r, badTry("%q does not name a lock and lines: write it like mu@queue.c:10-14", s)
	}
	first, last, ranged := strings.Cut(place[i+1:], "-")
	if !ranged {
		last = first
	}
	from, err1 := strconv.Atoi(first)
	to, err2 := strconv.Atoi(last)
	if err1 != nil || err2 != nil || from < 1 || to < from {
		return r, badTry("%q has no range of lines after the colon: write it like mu@queue.c:10-14", s)
	}
	return triedRange{s, lock, sourceFile(filepath.Clean(place[:i])), from, to}, nil
}

// CheckTryLock reports whether ranges are valid for Config.TryLock, as far as that does not depend
// on the program. The error is a *TryLockError.
func CheckTryLock(ranges []string) error {
	for i, s := range ranges {
		if _, err := parseTry(s); err != nil {
			return err
		}
		if slices.Contains(ranges[:i], s) {
			return badTry("%s is named twice", s)
		}
	}
	if len(ranges) > abi.MaxTried {
		return badTry("%d locks to try are too many: name at most %d", len(ranges), abi.MaxTried)
	}
	return nil
}

// tries are Config.TryLock, resolved for the program's modules.
type tries struct {
	ranges []triedLock
	sites  []triedSite
}

// triedLock is the lock of a range; see struct hd_tried_range.
type triedLock struct {
	mutex  trace.Site // the program's; 0: the runtime's lock number own
	own    uint32
	others []string // mutexes of the program, if this is none of them
	near   []int    // lines of the range's file with instructions that the runtime sees
}

// triedSite is a return address for the runtime; see struct hd_tried_site.
type triedSite struct {
	site   trace.Site
	in, of uint32
}

// resolveTries finds the locks and instructions of ranges in the modules.
func resolveTries(modules []trace.Module, ranges []string) (*tries, error) {
	table := symbol.New(modules, symbol.Options{})
	entered := table.CallsTo([]string{"__tsan_func_entry"}, nil)
	instrumented := map[trace.Site]bool{} // functions
	in := map[int]bool{}
	for i := range entered {
		instrumented[entered[i].Entry] = true
		in[entered[i].Site.Module()] = true
	}
	calls := slices.DeleteFunc(table.Calls(func(m int) bool { return in[m] }), func(c symbol.CallSite) bool { return c.Entry == 0 || !instrumented[c.Entry] })
	out := &tries{}
	masks := map[trace.Site]*triedSite{}
	own := map[string]uint32{} // the first range of each lock of the runtime
	for i, s := range ranges {
		r, err := parseTry(s)
		if err != nil {
			return nil, err
		}
		lock, err := r.lockIn(table)
		if err != nil {
			return nil, err
		}
		if lock.mutex == 0 {
			if _, ok := own[r.lock]; !ok {
				own[r.lock] = uint32(i)
			}
			lock.own = own[r.lock]
		}
		inside, lines, err := r.find(table, calls)
		if err != nil {
			return nil, err
		}
		lock.near = lines
		out.ranges = append(out.ranges, lock)
		functions := map[trace.Site]bool{}
		for _, c := range inside {
			functions[c.Entry] = true
		}
		for k := range calls {
			c := &calls[k]
			if !functions[c.Entry] {
				continue
			}
			m := masks[c.Site]
			if m == nil {
				m = &triedSite{site: c.Site}
				masks[c.Site] = m
			}
			m.of |= 1 << i
			if r.contains(c) {
				m.in |= 1 << i
			}
		}
	}
	if len(masks) > abi.MaxTriedSites {
		return nil, badTry("the functions of the lines to try a lock in make %d calls, and the limit is %d: name fewer lines", len(masks), abi.MaxTriedSites)
	}
	for _, s := range slices.Sorted(maps.Keys(masks)) {
		out.sites = append(out.sites, *masks[s])
	}
	return out, nil
}

// othersNamed is how many mutexes of the program are named where a lock is none of them.
const othersNamed = 4

// lockIn returns the mutex of the program that r's lock names, or a lock of the runtime's own if no
// variable has that name.
func (r triedRange) lockIn(table *symbol.Table) (triedLock, error) {
	found := table.Variables(r.lock)
	switch {
	case len(found) > 1:
		return triedLock{}, badTry("%s: the program has %d variables named %s", r.text, len(found), r.lock)
	case len(found) == 0:
		return triedLock{others: table.Mutexes(othersNamed)}, nil
	case !found[0].Mutex:
		return triedLock{}, badTry("%s: the variable %s is not known to be a mutex: name a mutex, or choose a name that no variable has, for a lock of its own (and build with -g)", r.text, r.lock)
	}
	return triedLock{mutex: found[0].Site}, nil
}

// contains reports whether a call is in r's lines: it, or an inlined call that it belongs to.
func (r triedRange) contains(c *symbol.CallSite) bool {
	return slices.ContainsFunc(c.Frames, func(f symbol.Frame) bool { return r.from <= f.Line && f.Line <= r.to && r.file.is(f.File) })
}

// find returns the calls in r's lines, and the lines of its file with a call.
func (r triedRange) find(table *symbol.Table, calls []symbol.CallSite) (inside []*symbol.CallSite, lines []int, err error) {
	files := map[string]bool{}
	seen := map[int]bool{}
	for i := range calls {
		c := &calls[i]
		if r.contains(c) {
			inside = append(inside, c)
		}
		for k := range c.Frames {
			if f := &c.Frames[k]; f.Line > 0 && r.file.is(f.File) {
				files[f.File], seen[f.Line] = true, true
			}
		}
	}
	lines = slices.Sorted(maps.Keys(seen))
	switch {
	case len(files) > 1:
		return nil, nil, badTry("%s: %s is more than one file (%s): write more of its path", r.text, r.file, strings.Join(slices.Sorted(maps.Keys(files)), ", "))
	case len(inside) > 0:
		return inside, lines, nil
	case len(files) == 0 && len(table.Files(r.file.is)) == 0:
		return nil, nil, badTry("%s: no source file of the program is named %s (or it was built without -g)", r.text, r.file)
	case len(files) == 0:
		return nil, nil, badTry("%s: %s has no instruction that heddle sees: build it with heddle cc, or with -fsanitize=thread", r.text, r.file)
	}
	return nil, nil, badTry("%s: no instruction that heddle sees is in these lines; the nearest are in %s", r.text, r.nearest(lines))
}

// nearest names the lines nearest to r, at most four.
func (r triedRange) nearest(lines []int) string {
	words := nearestLines(lines, r.from, r.to, 4)
	if len(words) == 1 {
		return "line " + words[0]
	}
	return "lines " + strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// sendTries writes the locks to try to a process that is ready.
func (p program) sendTries(s *abi.Shm) error {
	if len(p.cfg.TryLock) == 0 {
		return nil
	}
	if p.tries == nil {
		found, err := resolveTries(p.modules, p.cfg.TryLock)
		if err != nil {
			return err
		}
		p.tries, p.triedTimes = found, make([]uint64, len(p.cfg.TryLock))
	}
	for i, r := range p.tries.ranges {
		s.TriedRanges[i] = abi.TriedRange{Own: r.own}
		if r.mutex != 0 {
			s.TriedRanges[i].Mutex = p.PC(r.mutex)
		}
	}
	for i, c := range p.tries.sites {
		s.TriedSites[i] = abi.TriedSite{Pc: p.PC(c.site), In: c.in, Of: c.of}
	}
	s.NtriedSites = uint32(len(p.tries.sites))
	s.Ntried = uint32(len(p.tries.ranges)) // read with the first plan
	return nil
}

// triedObject names a lock of the runtime's own.
func (p program) triedObject(addr uint64) (trace.Object, bool) {
	if p.tries == nil || p.shm == nil || p.shm.TriedStride == 0 || addr < p.shm.TriedOwn {
		return 0, false
	}
	n := (addr - p.shm.TriedOwn) / p.shm.TriedStride
	if n >= abi.MaxTried {
		return 0, false
	}
	return trace.MakeObject(trace.RegionOther, 0, 1<<abi.FdObjectBit|abi.FdTried<<abi.FdKindShift|n<<abi.FdShift), true
}

// TriedLocks implements target.LockTrier for Config.TryLock.
func (t *Target) TriedLocks() []target.TriedLock {
	out := make([]target.TriedLock, len(t.cfg.TryLock))
	for i, s := range t.cfg.TryLock {
		r, _ := parseTry(s) // CheckTryLock has accepted it
		out[i] = target.TriedLock{Range: s, Lock: r.lock, Lines: fmt.Sprintf("%s:%d-%d", r.file, r.from, r.to), Times: t.triedTimes[i]}
		if r.from == r.to {
			out[i].Lines = fmt.Sprintf("%s:%d", r.file, r.from)
		}
		out[i].Own, out[i].Others, out[i].Nearest = t.tries.ranges[i].mutex == 0, t.tries.ranges[i].others, r.nearest(t.tries.ranges[i].near)
		if p := t.loop.Process(); p != nil {
			out[i].Times += p.Shm().TriedTimes[i]
		}
	}
	return out
}
