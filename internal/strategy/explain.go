package strategy

import "fmt"

// Explainer is a Strategy made of others, its arms.
type Explainer interface {
	Strategy
	// ArmOf returns the name of the arm that made a plan.
	ArmOf(r *Request) string
	// Arms returns the arms, in a fixed order.
	Arms() []Arm
}

// Arm says what one arm of a strategy has yielded.
type Arm struct {
	Name string
	// Pairs counts the executions that showed a new pair of a write and a read that reads from it.
	Pairs int
	// Why says, without the name, why the arm gets the effort that it gets.
	Why string
}

// Arms implements Explainer.
func (p *Portfolio) Arms() (arms []Arm) {
	var tallies []*tally
	for _, a := range p.arms {
		tallies = append(tallies, &a.tally)
	}
	average := averageYield(tallies)
	for _, a := range p.arms {
		t := &a.tally
		why := ""
		switch {
		case t.Executions == 0:
			why = "its turn did not come"
		case a.guide != nil && a.guide.ended():
			why = "has tried all that it knows"
		case p.arms[0].guide != nil && p.round <= 1:
			why = "the search ended in the opening"
		default:
			why = fmt.Sprintf("yield for its cost, of late: %.1f times the average", t.yield(average))
		}
		arms = append(arms, Arm{Name: a.String(), Pairs: t.Pairs, Why: why})
	}
	return arms
}

// ArmOf implements Explainer.
func (p *Portfolio) ArmOf(r *Request) string { return p.arms[r.Key%len(p.arms)].String() }

// Arms implements Explainer.
func (f *Finishing) Arms() (arms []Arm) {
	if e, ok := f.sampling.(Explainer); ok {
		arms = e.Arms()
	} else {
		arms = []Arm{{Name: f.sampling.String()}}
	}
	s := &f.state
	why := "executes each behaviour once"
	switch {
	case s.GivenUp != "":
		why = "given up: " + s.GivenUp
	case s.Enumerated:
		why = "has executed all behaviours"
	case s.Sampling < beforeFirst:
		why = "its turn did not come"
	}
	return append(arms, Arm{Name: f.dpor.String(), Why: why})
}

// ArmOf implements Explainer.
func (f *Finishing) ArmOf(r *Request) string {
	if r.Key == exhaustiveKey {
		return f.dpor.String()
	}
	if e, ok := f.sampling.(Explainer); ok {
		return e.ArmOf(r)
	}
	return f.sampling.String()
}
