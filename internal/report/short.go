package report

import (
	"fmt"
	"strings"

	"github.com/heddle-dev/heddle/internal/pattern"
)

// short is the explanation in one line.
//
// section are the two events of the critical sections that the ordering is of, nil for none.
func (x *explaining) short(m *pattern.Match, o *Order, section []int) string {
	clear(x.said)
	x.last = ""
	name := m.Pattern.Name
	if m.Line != nil {
		return name + ": " + m.Line(x)
	}
	if m.Bare {
		first, second := "", ""
		if len(m.Section) == 2 {
			first, second = x.Event(m.Section[0]), x.Event(m.Section[1])
		} else {
			first, second = x.Event(o.First), x.second(o)
		}
		return fmt.Sprintf("%s: %s comes before %s; the other way round it does not fail", name, first, second)
	}
	place := func(s string) string { return strings.ReplaceAll(s, " of it", "") }
	of := ""
	if o.Object != "" {
		of = " of " + o.Object
	}
	x.last = o.Object
	if m.Begun > 0 {
		return fmt.Sprintf("%s%s: %s comes after the beginning of %s, and before its end; after the end it does not fail", name, of, place(x.Event(o.First)), place(x.Event(m.Begun)))
	}
	if len(section) == 2 {
		x.last = x.object(x.Trace, section[0])
		object, first := x.last, section[0]
		if timedWait(&x.Trace.Events[o.First]) { // what the thread does then is not to blame
			first = o.First
		}
		return fmt.Sprintf("%s of %s: %s comes before %s; the other way round it does not fail", name, object, place(x.Event(first)), place(x.Event(section[1])))
	}
	if len(m.Triple) == 3 {
		x.last = x.object(x.Trace, m.Triple[1])
		return fmt.Sprintf("%s of %s: %s comes between %s and its %s", name, x.last, place(x.Event(m.Triple[1])), place(x.Event(m.Triple[0])), x.own(place(x.Event(m.Triple[2]))))
	}
	return fmt.Sprintf("%s%s: %s comes before %s; the other way round it does not fail", name, of, place(x.Event(o.First)), place(x.second(o)))
}

// own removes the thread from a description: `T1's read at f.c:3` becomes `read at f.c:3`.
func (x *explaining) own(s string) string {
	_, rest, _ := strings.Cut(s, "'s ")
	return rest
}
