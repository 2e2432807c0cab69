package finding

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/trace"
)

// Location is where a site is in the source.
type Location struct {
	Text  string // function and line, for people; empty if unknown
	Func  string
	Place string // `file.c:12`, or function or module and offset without line numbers; empty if unknown
	// Library means that the source line is in the C or C++ library, as that of a function in its
	// headers that was not compiled into its caller.
	Library bool
	// System means that the site is in one of the system's libraries, which the program's code has called.
	System bool
	// Entered is the function of the C or C++ library that the program's code has called there, and that was compiled into its
	// caller; if Library is set, the outermost one at the site.
	Entered string
	// Callee says which of some functions of C the site calls, if it is a return address; empty if none is known. It may be nil.
	Callee func(names []string) string
}

// isLibrary reports whether a location is in the C or C++ library: in a header, or in a function of libstdc++ or libc++, of which only
// the name is known.
func (l Location) isLibrary() bool {
	return l.Library || strings.HasPrefix(l.Func, "std::") && strings.HasPrefix(l.Place, l.Func+"+0x")
}

// Locate returns the location of a site.
type Locate func(s trace.Site) Location

// part is a place that belongs to a finding's identity, with the operation if a thread waits there.
type part struct {
	op    trace.Op
	site  trace.Site
	calls []trace.Site // callers, innermost first, if the outcome has them
	stack uint32       // callers, as an index into trace.Trace.Stacks
}

// shownPlaces is how many places a key names; its hash has all of them.
const shownPlaces = 2

// Key returns the identity of a failure as a short text without spaces: its kind, the source lines
// of its place, and a hash of the identity, as in `deadlock@queue.c:41,queue.c:57#1a2b3c4d`. Unlike
// Same, it names places by function and line, so that it is the same for every build of the same
// source; two instructions of one line have one key. stacks are those of the recorded execution, or
// nil if it was not recorded.
//
// certain is false if a place is in a header of the library and its caller is not known. Then the
// execution must be recorded, with its accesses if it is a race, for the key to be right.
func (f Finding) Key(stacks [][]trace.Site, locate Locate) (key string, certain bool) {
	if !f.Kind.Failed() {
		return "", false
	}
	certain = true
	var hashed, shown []string
	for _, p := range f.parts {
		l, ok := p.locate(stacks, locate)
		certain = certain && ok
		hashed = append(hashed, fmt.Sprintf("%d %s %s", p.op, l.Func, l.Place))
		if l.Place != "" {
			shown = append(shown, strings.Map(plain, l.Place))
		}
	}
	slices.Sort(hashed)
	if f.Kind == trace.Leak || f.base == "waits" {
		hashed = slices.Compact(hashed) // each counts once: Finding.waits
	}
	sum := sha256.Sum256([]byte(f.Kind.String() + "\x00" + f.base + "\x00" + strings.Join(hashed, "\x00")))
	slices.Sort(shown)
	shown = slices.Compact(shown)
	key = strings.ReplaceAll(f.Kind.String(), " ", "-")
	if n := len(shown); n > shownPlaces {
		shown = append(shown[:shownPlaces:shownPlaces], fmt.Sprintf("+%d", n-shownPlaces))
	}
	if len(shown) > 0 {
		key += "@" + strings.Join(shown, ",")
	}
	return fmt.Sprintf("%s#%x", key, sum[:4]), certain
}

// Place returns the location to show for the finding: that of Site or, if Site is in a header of the
// library or in a library of the system's, of its innermost caller that is not. stacks are as for Key.
func (f Finding) Place(stacks [][]trace.Site, locate Locate) Location {
	p := part{site: f.Site, calls: f.calls}
	if i := slices.IndexFunc(f.parts, func(p part) bool { return p.site == f.Site }); i >= 0 {
		p = f.parts[i]
	}
	return p.shown(stacks, locate)
}

// Caller returns the location of a site that is a return address or an access or, if it is in a header
// of the library or in a library of the system's, of the innermost of its callers that is not, if one is known.
func Caller(s trace.Site, calls []trace.Site, locate Locate) Location {
	return part{site: s, calls: calls}.shown(nil, locate)
}

// shown returns the location of the innermost of the site and its callers that is neither in a header of the library nor
// in a library of the system's, or else that of the site. A key has a site in a library of the system's, unless it is the C++
// library, as it is: its callers are known only of a recorded execution.
func (p part) shown(stacks [][]trace.Site, locate Locate) Location {
	at, _ := p.locate(stacks, locate)
	if !at.System {
		return at
	}
	for _, s := range p.callers(stacks) {
		if l := locate(s); s != 0 && !l.isLibrary() && !l.System && l.Place != "" {
			return l
		}
	}
	return at
}

// locate returns the location of the innermost of the site and its callers that is not in the C or C++
// library. It reports false if all known ones are, and callers are not known.
func (p part) locate(stacks [][]trace.Site, locate Locate) (Location, bool) {
	at := locate(p.site)
	if !at.isLibrary() {
		return at, true
	}
	calls := p.callers(stacks)
	for _, s := range calls {
		if l := locate(s); s != 0 && !l.isLibrary() && l.Place != "" {
			return l, true
		}
	}
	if !at.Library {
		at.Place = at.Func // the offset changes with the library's version
	}
	return at, len(calls) > 0 || !at.Library && stacks != nil
}

// callers returns the callers of the site, innermost first, if they are known.
func (p part) callers(stacks [][]trace.Site) []trace.Site {
	calls := p.calls
	if i := slices.Index(calls, p.site); i >= 0 {
		calls = calls[i+1:]
	}
	if len(calls) == 0 && int(p.stack) < len(stacks) {
		calls = stacks[p.stack]
	}
	return calls
}

// plain replaces what a key must not contain.
func plain(r rune) rune {
	if strings.ContainsRune(" ,#\t\n", r) || r < ' ' {
		return '_'
	}
	return r
}

var keyForm = regexp.MustCompile(`^([a-z-]+)(@[^#\s]+)?#[0-9a-f]{8}$`)

// IsKey reports whether s has the form of a key.
func IsKey(s string) bool {
	m := keyForm.FindStringSubmatch(s)
	if m == nil {
		return false
	}
	for k := trace.Kind(0); k <= trace.Livelock; k++ {
		if k.Failed() && m[1] == strings.ReplaceAll(k.String(), " ", "-") {
			return true
		}
	}
	return false
}
