package engine

import (
	"time"

	"github.com/heddle-dev/heddle/internal/strategy"
)

// Explained says what one of a search's strategies did.
type Explained struct {
	Strategy   string  `json:"strategy"`
	Executions int     `json:"executions"`
	Seconds    float64 `json:"seconds"` // between the outcome before and its own, for each execution
	New        int     `json:"new"`     // executions that showed a new behaviour
	// Pairs counts the recorded executions that showed a new pair of a write and a read that reads from
	// it.
	Pairs    int    `json:"pairs"`
	Failures int    `json:"failures"` // failed executions, ignored findings included
	Why      string `json:"why"`      // why it got the effort that it got
}

// firstStrategy is the name of the first execution, which no strategy planned.
const firstStrategy = "first execution"

// effort counts what a search's strategies did. Its methods do nothing if it is nil.
type effort struct {
	rows  map[string]*Explained
	clock time.Time
}

// begin starts the clock of an exploration: time spent otherwise does not count.
func (e *effort) begin() {
	if e != nil {
		e.clock = time.Now()
	}
}

// saw counts an execution.
func (e *effort) saw(s strategy.Strategy, r *strategy.Request, fresh, failed bool) {
	if e == nil {
		return
	}
	row := e.row(armOf(s, r))
	now := time.Now()
	row.Seconds += now.Sub(e.clock).Seconds()
	e.clock = now
	row.Executions++
	if fresh {
		row.New++
	}
	if failed {
		row.Failures++
	}
}

func (e *effort) row(name string) *Explained {
	if e.rows == nil {
		e.rows = map[string]*Explained{}
	}
	row := e.rows[name]
	if row == nil {
		row = &Explained{Strategy: name}
		e.rows[name] = row
	}
	return row
}

func armOf(s strategy.Strategy, r *strategy.Request) string {
	if r.Key == strategy.First {
		return firstStrategy
	}
	if x, ok := s.(strategy.Explainer); ok {
		return x.ArmOf(r)
	}
	return s.String()
}

// all returns the rows: the first execution, then the strategies in their order.
func (e *effort) all(s strategy.Strategy) (rows []Explained) {
	if e == nil {
		return nil
	}
	if first := e.rows[firstStrategy]; first != nil {
		rows = append(rows, *first)
		rows[0].Why = "under the fair policy, without preemptions"
	}
	arms := []strategy.Arm{{Name: s.String(), Why: "used alone"}}
	if x, ok := s.(strategy.Explainer); ok {
		arms = x.Arms()
	}
	for _, a := range arms {
		row := *e.row(a.Name)
		row.Pairs, row.Why = a.Pairs, a.Why
		rows = append(rows, row)
	}
	return rows
}
