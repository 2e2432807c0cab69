package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/internal/pattern"
)

// mostShort is how many characters an explanation in one line takes at most, without the numbers of its events.
const mostShort = 160

// detail is how much a line says.
type detail struct {
	inLine    bool // it is a line, not the text
	name      int  // how many characters of a name it has, 0 for all
	otherwise bool // what each explanation says: that the execution does not fail with the two the other way round, or before the second
	values    bool // values, and what the pattern adds
	functions bool // the functions of places, besides the lines
	brief     bool // of two orderings that belong together, only the first is told
	more      bool // that the failure needs something besides the ordering
}

// details are the forms of a line, the longest first. Names become shorter before facts are left out.
var details = []detail{
	{true, 0, true, true, true, false, false},
	{true, 48, true, true, true, false, false},
	{true, 32, true, true, true, false, false},
	{true, 24, true, true, true, false, false},
	{true, 0, false, true, true, false, false},
	{true, 48, false, true, true, false, false},
	{true, 32, false, true, true, false, false},
	{true, 24, false, true, true, false, false},
	{true, 0, false, true, false, false, false},
	{true, 48, false, true, false, false, false},
	{true, 24, false, true, false, false, false},
	{true, 24, false, false, false, false, false},
	{true, 16, false, false, false, false, false},
	{true, 12, false, false, false, false, false},
	{true, 48, false, false, true, true, false},
	{true, 24, false, false, false, true, false},
	{true, 12, false, false, false, true, false},
}

// text is the detail of the text of an explanation.
var text = detail{functions: true}

// short is the explanation in one line of at most mostShort characters.
//
// section are the two events of the critical sections that the ordering is of, nil for none.
func (x *explaining) short(m *pattern.Match, o *Order, section []int) (line string) {
	defer func() { x.detail = text }()
	fits := func(d detail) bool {
		x.detail = d
		line = x.line(m, o, section)
		return utf8.RuneCountInString(line) <= mostShort
	}
	for _, d := range details {
		if !fits(d) {
			continue
		}
		if o != nil && o.needsMore() && x.inside == nil && o.Failed == 0 && !m.Alone { // in addition, or instead of what each explanation says
			more := d
			more.more = true
			if fits(more) {
				return line
			}
			if more.otherwise = false; fits(more) {
				return line
			}
			fits(d)
		}
		return line
	}
	return cutClause(line)
}

// cutClause cuts a line at the end of a clause, or of a word if its first clause is too long.
func cutClause(line string) string {
	s := string([]rune(line)[:mostShort-2])
	at := max(strings.LastIndex(s, "; "), strings.LastIndex(s, ", "))
	if at < 0 {
		at = strings.LastIndex(s, " ")
	}
	if at < 0 {
		at = len(s)
	}
	return s[:at] + " …"
}

// told returns the events that have been described since the last line began.
func (x *explaining) told() []int { return append([]int{}, slices.Sorted(maps.Keys(x.said))...) }

// line is the explanation in one line with the details of x.
func (x *explaining) line(m *pattern.Match, o *Order, section []int) string {
	clear(x.said)
	x.last = ""
	if o == nil {
		return m.Pattern.Name + ": " + m.Fact(x)
	}
	doubtful := ""
	if o.Doubtful() {
		doubtful = "perhaps "
	}
	ordering, otherwise := x.ordering(m, o, section)
	if o.Again > 0 { // there is no room to say when it does
		otherwise = ""
	}
	parts := []string{doubtful + m.Pattern.Name + ordering}
	if x.also != nil {
		if x.brief {
			parts[0] += ", and one more order matters"
		} else {
			parts[0] += fmt.Sprintf(", and %s before %s", x.Event(x.also.First), x.second(x.also))
		}
		otherwise = "with both the other way round"
	}
	switch {
	case m.Alone:
		parts, otherwise = []string{doubtful + m.Pattern.Name + ": " + x.alone(m)}, ""
	case x.detail.values:
		switch {
		case m.Fact != nil:
			parts = append(parts, m.Fact(x))
		default:
			if v := x.values(m, o, section); v != "" {
				parts = append(parts, v)
			}
		}
	}
	if closed, _ := pattern.Closed(x.Trace); closed >= 0 && !x.said[closed] && !m.Alone {
		x.said[closed] = true
		by := "closed"
		if x.detail.values {
			by = fmt.Sprintf("T%d closed the channel", x.Trace.Events[closed].Thread)
		}
		parts = append(parts, by+x.at(x.Place(closed), "", 0))
	}
	switch {
	case o.Failed > 0: // which is not to be left out
		parts = append(parts, fmt.Sprintf("%s it fails in %d of %d", cmp.Or(otherwise, "otherwise"), o.Failed, o.Executions))
	case x.detail.otherwise && otherwise != "":
		parts = append(parts, otherwise+" it does not fail")
	}
	if x.detail.more {
		parts = append(parts, "something else is needed, too")
	}
	return strings.Join(parts, "; ")
}

// alone is what a pattern says without the ordering, as if nothing had been said before. The events that show it are told.
func (x *explaining) alone(m *pattern.Match) string {
	clear(x.said)
	x.last = ""
	s := m.Fact(x)
	for _, i := range m.More {
		x.said[i] = true
	}
	return s
}

// withoutIt leaves the object out of an event's description, where it has just been told.
func withoutIt(event string) string { return strings.ReplaceAll(event, " of it", "") }

// ordering tells the order of the events, after the name of the pattern, and what the other order is.
func (x *explaining) ordering(m *pattern.Match, o *Order, section []int) (said, otherwise string) {
	const turned = "the other way round"
	before := func(of, first, second string) string {
		return fmt.Sprintf("%s: %s comes before %s", of, first, second)
	}
	if m.Bare && x.inside != nil {
		return ": " + x.interrupts(x.inside, false), ""
	}
	if m.Bare {
		if len(m.Section) == 2 {
			return before("", x.Event(m.Section[0]), x.Event(m.Section[1])), turned
		}
		return before("", x.Event(o.First), x.second(o)), turned
	}
	of := func(object string) string {
		x.last = object
		if object == "" {
			return ""
		}
		return " of " + object
	}
	switch {
	case x.inside != nil && !x.oneObjectBetween(x.inside):
		objects := ""
		if x.brief && x.name > 12 { // with the least room, the lines have to do
			objects = of(x.objectsBetween(x.inside))
		}
		return objects + ": " + x.interrupts(x.inside, false), ""
	case x.inside != nil:
		return of(x.Object(x.inside.b)) + ": " + x.interrupts(x.inside, true), ""
	case m.Begun > 0:
		return fmt.Sprintf("%s: %s comes after the beginning of %s, and before its end", of(x.cutObject(o.Object)), withoutIt(x.Event(m.During)), withoutIt(x.Event(m.Begun))), "with one after the other"
	case len(section) == 2:
		first := section[0]
		if timedWait(&x.Trace.Events[o.First]) { // what the thread does then is not to blame
			first = o.First
		}
		return before(of(x.Object(section[0])), withoutIt(x.Event(first)), withoutIt(x.Event(section[1]))), turned
	case x.later >= 0:
		return before(of(x.Object(section[0])), withoutIt(x.Event(section[0])), withoutIt(x.yetToCome(x.later))), turned
	case len(m.Triple) == 3:
		p, r, c := m.Triple[0], m.Triple[1], m.Triple[2]
		object := of(x.Object(r))
		return fmt.Sprintf("%s: %s comes between %s and its %s", object, withoutIt(x.Event(r)), withoutIt(x.Event(p)), x.own(withoutIt(x.Event(c)))), ""
	}
	return before(of(x.cutObject(o.Object)), withoutIt(x.Event(o.First)), withoutIt(x.second(o))), turned
}

// values tells what the accesses of an ordering read and wrote; empty if that is not known.
func (x *explaining) values(m *pattern.Match, o *Order, section []int) string {
	events := m.Triple
	if x.inside != nil {
		if events = x.inside.events(); len(events) < 3 {
			return ""
		}
	}
	if events == nil {
		events = []int{o.First, o.Second}
		if len(section) == 2 {
			events = section
		}
		if o.Waiting || events[1] < 0 {
			events = events[:1]
		}
		reads := events[:0:0]
		for _, i := range events { // a write says what it should have said
			if x.Reads(i) {
				reads = append(reads, i)
			}
		}
		events = reads
	}
	var said []string
	for _, i := range events {
		v := x.Value(i)
		if v == "" || v[0] == '&' || utf8.RuneCountInString(v) > 20 { // an address says nothing
			return ""
		}
		did := "wrote"
		switch {
		case x.Reads(i):
			did = "read"
		case ops.Does(x.Trace.Events[i].Op) == ops.Compare: // its value is what it found
			did = "found"
		}
		said = append(said, fmt.Sprintf("T%d %s %s", x.Trace.Events[i].Thread, did, v))
	}
	return strings.Join(said, ", ")
}

// own removes the thread from a description: `T1's read at f.c:3` becomes `read at f.c:3`.
func (x *explaining) own(s string) string {
	_, rest, _ := strings.Cut(s, "'s ")
	return rest
}
