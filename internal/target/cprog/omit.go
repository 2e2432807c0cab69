package cprog

import (
	"cmp"
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

// OmitError says in one sentence why a call cannot be omitted.
type OmitError struct{ Reason string }

func (e *OmitError) Error() string { return e.Reason }

func badOmission(format string, args ...any) error { return &OmitError{fmt.Sprintf(format, args...)} }

// omittable are the calls that can be omitted. The function of the same name in the runtime says
// what each then does (hd_skip).
var omittable = []string{
	"pthread_mutex_lock", "pthread_mutex_trylock", "pthread_mutex_timedlock", "pthread_mutex_clocklock",
	"mtx_lock", "mtx_trylock", "mtx_timedlock",
	"pthread_rwlock_rdlock", "pthread_rwlock_wrlock", "pthread_rwlock_tryrdlock", "pthread_rwlock_trywrlock",
	"pthread_rwlock_timedrdlock", "pthread_rwlock_timedwrlock", "pthread_rwlock_clockrdlock", "pthread_rwlock_clockwrlock",
	"pthread_spin_lock", "pthread_spin_trylock",
	"sem_wait", "sem_trywait", "sem_timedwait", "sem_clockwait", "sem_post",
	"pthread_barrier_wait", "pthread_join", "thrd_join",
	"pthread_cond_signal", "pthread_cond_broadcast", "cnd_signal", "cnd_broadcast",
}

// needed explains why a call cannot be omitted.
var needed = map[string]string{
	"pthread_mutex_unlock":   "name the call that locks, and the unlock that belongs to it is omitted too",
	"pthread_rwlock_unlock":  "name the call that locks, and the unlock that belongs to it is omitted too",
	"pthread_spin_unlock":    "name the call that locks, and the unlock that belongs to it is omitted too",
	"mtx_unlock":             "name the call that locks, and the unlock that belongs to it is omitted too",
	"cnd_wait":               "a loop around it would spin with the mutex held; name the signal, or the lock",
	"cnd_timedwait":          "a loop around it would spin with the mutex held; name the signal, or the lock",
	"pthread_cond_wait":      "a loop around it would spin with the mutex held; name the signal, or the lock",
	"pthread_cond_timedwait": "a loop around it would spin with the mutex held; name the signal, or the lock",
	"pthread_cond_clockwait": "a loop around it would spin with the mutex held; name the signal, or the lock",
	"pthread_create":         "the thread would be missing",
	"pthread_once":           "what it runs would be missing",
}

// omission is a parsed element of Config.Omit.
type omission struct {
	text string
	call string
	file sourceFile
	line int
}

// sourceFile is a source file as the user names it: the last components of its path.
type sourceFile string

// is reports whether s names the file at path.
func (s sourceFile) is(path string) bool {
	return path == string(s) || strings.HasSuffix(path, "/"+string(s))
}

// parseOmission reads CALL@FILE:LINE.
func parseOmission(s string) (omission, error) {
	call, place, ok := strings.Cut(s, "@")
	i := strings.LastIndexByte(place, ':')
	if !ok || call == "" || i < 1 {
		return omission{}, badOmission("%q does not name a call: write it like pthread_mutex_lock@queue.c:123", s)
	}
	line, err := strconv.Atoi(place[i+1:])
	if err != nil || line < 1 {
		return omission{}, badOmission("%q has no line number after the colon: write it like pthread_mutex_lock@queue.c:123", s)
	}
	if why, ok := needed[call]; ok {
		return omission{}, badOmission("%s cannot be omitted: %s", call, why)
	}
	if !slices.Contains(omittable, call) {
		return omission{}, badOmission("heddle cannot omit %s; it can omit %s", call, strings.Join(omittable, ", "))
	}
	return omission{s, call, sourceFile(filepath.Clean(place[:i])), line}, nil
}

// CheckOmit reports whether calls are valid for Config.Omit, as far as that does not depend
// on the program. The error is a *OmitError.
func CheckOmit(calls []string) error {
	for i, s := range calls {
		if _, err := parseOmission(s); err != nil {
			return err
		}
		if slices.Contains(calls[:i], s) {
			return badOmission("%s is named twice", s)
		}
	}
	if len(calls) > abi.MaxOmitted {
		return badOmission("%d calls to omit are too many: name at most %d", len(calls), abi.MaxOmitted)
	}
	return nil
}

// omittedSite is a return address for the runtime; see struct hd_omitted_site.
type omittedSite struct {
	site  trace.Site
	which uint32
}

// resolve returns the return addresses of the calls in the modules.
func resolve(modules []trace.Module, calls []string) (sites []omittedSite, err error) {
	table := symbol.New(modules, symbol.Options{})
	known := map[trace.Site]uint32{}
	for i, s := range calls {
		w, err := parseOmission(s)
		if err != nil {
			return nil, err
		}
		found, passed, err := w.find(table)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			known[f] = uint32(i)
		}
		for _, p := range passed {
			if _, ok := known[p]; !ok {
				known[p] = abi.OmittedCaller
			}
		}
	}
	if len(known) > abi.MaxOmittedSites {
		return nil, badOmission("the calls to omit were compiled into %d places, and the limit is %d: name fewer", len(known), abi.MaxOmittedSites)
	}
	for _, s := range slices.Sorted(maps.Keys(known)) {
		sites = append(sites, omittedSite{s, known[s]})
	}
	return sites, nil
}

// names reports whether w names the place.
func (w omission) names(f *symbol.Frame) bool { return f.Line == w.line && w.file.is(f.File) }

// find returns the addresses that the call at w's line returns to. Functions of the library's
// headers that were not inlined are passed through: the user writes std::lock_guard, and the call
// of pthread_mutex_lock is in a separate function. passed are the return addresses in such
// functions; there, the caller's return address decides.
func (w omission) find(table *symbol.Table) (found, passed []trace.Site, err error) {
	const deep = 12 // calls; std::scoped_lock takes six
	names, entries := []string{w.call}, []trace.Site(nil)
	seen := map[trace.Site]bool{} // functions passed through
	var jump *symbol.CallSite
	files := map[string]bool{} // that w may mean
	others := map[int]bool{}   // lines of such files with a call
	for depth := 0; depth < deep && len(names)+len(entries) > 0; depth++ {
		sites := table.CallsTo(names, entries)
		names, entries = nil, nil
		for i := range sites {
			c := &sites[i]
			at := slices.IndexFunc(c.Frames, func(f symbol.Frame) bool { return w.names(&f) })
			switch {
			case at >= 0 && c.Jump:
				jump = c
			case at >= 0:
				found = append(found, c.Site)
				files[c.Frames[at].File] = true
			case !c.Jump && c.Entry != 0 && !slices.ContainsFunc(c.Frames, func(f symbol.Frame) bool { return !librarys(f.File) }):
				passed = append(passed, c.Site)
				if !seen[c.Entry] {
					seen[c.Entry] = true
					entries = append(entries, c.Entry)
					if c.Name != "" {
						names = append(names, c.Name)
					}
				}
			}
			for j := range c.Frames {
				if f := &c.Frames[j]; w.file.is(f.File) {
					others[f.Line] = true
				}
			}
		}
	}
	switch {
	case len(files) > 1:
		list := slices.Sorted(maps.Keys(files))
		return nil, nil, badOmission("%s: %s is more than one file (%s): write more of its path", w.text, w.file, strings.Join(list, ", "))
	case len(found) > 0:
		return found, passed, nil
	case jump != nil:
		return nil, nil, badOmission("%s: the call was compiled into a jump and cannot be distinguished from others: build with heddle cc, or with -fno-optimize-sibling-calls", w.text)
	}
	return nil, nil, w.missing(table, others)
}

// missing explains why the program has no such call.
func (w omission) missing(table *symbol.Table, lines map[int]bool) error {
	if len(lines) == 0 {
		if len(table.Files(w.file.is)) == 0 {
			return badOmission("%s: no source file of the program is named %s (or it was built without -g)", w.text, w.file)
		}
		return badOmission("%s: nothing in %s calls %s", w.text, w.file, w.call)
	}
	near := nearestLines(slices.Sorted(maps.Keys(lines)), w.line, w.line, 3)
	return badOmission("%s: line %d of %s does not call %s; the nearest that do: %s", w.text, w.line, w.file, w.call, strings.Join(near, ", "))
}

// nearestLines returns the numbers of the lines that are nearest to a range, at most n, in ascending order. Of two
// lines at the same distance it prefers the first in lines.
func nearestLines(lines []int, from, to, n int) []string {
	distance := func(line int) int { return max(from-line, line-to, 0) }
	near := slices.SortedStableFunc(slices.Values(lines), func(a, b int) int { return cmp.Compare(distance(a), distance(b)) })
	near = near[:min(len(near), n)]
	slices.Sort(near)
	words := make([]string, len(near))
	for i, line := range near {
		words[i] = strconv.Itoa(line)
	}
	return words
}

// librarys reports whether a source file belongs to the compiler or the C library.
func librarys(path string) bool {
	for _, dir := range []string{"/usr/include/", "/usr/lib/", "/usr/local/include/"} {
		if strings.HasPrefix(path, dir) {
			return true
		}
	}
	return strings.Contains(path, "/include/c++/")
}

// sendOmissions writes the calls to omit to a process that is ready.
func (p program) sendOmissions(s *abi.Shm) error {
	if len(p.cfg.Omit) == 0 {
		return nil
	}
	if p.omittedSites == nil {
		sites, err := resolve(p.modules, p.cfg.Omit)
		if err != nil {
			return err
		}
		p.omittedSites, p.omittedTimes = sites, make([]uint64, len(p.cfg.Omit))
	}
	for i, site := range p.omittedSites {
		s.OmittedSites[i] = abi.OmittedSite{Pc: p.PC(site.site), Which: site.which}
	}
	s.Nomitted = uint32(len(p.omittedSites)) // read with the first plan
	return nil
}

// counted adds the calls that a process omitted, and the ranges with a tried lock that it entered, to the sums. It is called when the process has
// ended.
func (p program) counted(s *abi.Shm) {
	for i := range p.omittedTimes {
		p.omittedTimes[i] += s.OmittedTimes[i]
	}
	for i := range p.triedTimes {
		p.triedTimes[i] += s.TriedTimes[i]
	}
}

// Omitted implements target.Omitter for Config.Omit.
func (t *Target) Omitted() []target.Omission {
	out := make([]target.Omission, len(t.cfg.Omit))
	for i, call := range t.cfg.Omit {
		out[i] = target.Omission{Call: call, Times: t.omittedTimes[i]}
		if p := t.loop.Process(); p != nil {
			out[i].Times += p.Shm().OmittedTimes[i]
		}
	}
	return out
}
