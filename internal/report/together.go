package report

import "fmt"

// together says what turning the first two orderings of an explanation at once shows.
func (x *explaining) together(e *Explanation) string {
	o := &e.Orders[1]
	return fmt.Sprintf("Besides, %s comes before %s. With both orders turned it %s (%s); with one of them alone it still fails.", x.Event(o.First), x.second(o), doesNotFail(&e.Orders[0]), shownBy(&e.Orders[0]))
}
