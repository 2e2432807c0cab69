package rapid

import "fmt"

// Loss is something of a trace that the other format cannot say.
type Loss struct {
	What  string `json:"what"`
	Count int    `json:"count"`
	First int    `json:"first"` // line, or index of the event
}

func (l Loss) String() string { return fmt.Sprintf("%d %s", l.Count, l.What) }

// losses collects them, in order of appearance.
type losses struct {
	list  []Loss
	index map[string]int
}

func (l *losses) add(at int, what string) {
	i, ok := l.index[what]
	if !ok {
		if l.index == nil {
			l.index = map[string]int{}
		}
		i = len(l.list)
		l.index[what] = i
		l.list = append(l.list, Loss{What: what, First: at})
	}
	l.list[i].Count++
}
