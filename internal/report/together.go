package report

import (
	"fmt"
	"strings"
)

// together says what turning the first two orderings of an explanation at once shows.
func (x *explaining) together(e *Explanation) string {
	o := &e.Orders[1]
	return fmt.Sprintf("Besides, %s comes before %s. With both orders turned it %s (%s); with one of them alone it still fails.", x.event(o.First), x.second(o), doesNotFail(&e.Orders[0]), shownBy(&e.Orders[0]))
}

// shortTogether is the explanation in one line by two orderings.
func (x *explaining) shortTogether(e *Explanation) string {
	clear(x.said)
	x.last = ""
	var parts []string
	for i := range e.Orders[:2] {
		o := &e.Orders[i]
		parts = append(parts, fmt.Sprintf("%s comes before %s", x.event(o.First), x.second(o)))
	}
	return fmt.Sprintf("%s: %s; with both the other way round it %s", e.Pattern, strings.Join(parts, ", and "), doesNotFail(&e.Orders[0]))
}
