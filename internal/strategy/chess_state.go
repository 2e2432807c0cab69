package strategy

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// savedCHESS is the JSON form of a chessState. Branches of one execution share its decisions, so these
// are saved once, in Sequences, as plans are.
type savedCHESS struct {
	chessState
	Frontier  map[int][]*savedBranch `json:"frontier"`
	Flying    map[int]*savedBranch   `json:"flying"`
	Sequences [][]byte               `json:"sequences"`
}

// savedBranch is a branch whose Prefix is the beginning of a sequence.
type savedBranch struct {
	Sequence int           `json:"q"`
	Length   int           `json:"l"`
	Step     schedule.Step `json:"n"`
	Cost     int           `json:"p"`
	Root     bool          `json:"r,omitempty"`
	Variant  bool          `json:"v,omitempty"`
	Of       *savedBranch  `json:"of,omitempty"`
	Known    []waiter      `json:"k,omitempty"`
}

// sequences are decisions of executions, each with what begins where it does.
type sequences struct {
	all   [][]schedule.Step
	index map[*schedule.Step]int // by the first decision
}

func (q *sequences) save(b *branch) *savedBranch {
	if b == nil {
		return nil
	}
	s := &savedBranch{Sequence: -1, Length: len(b.Prefix), Step: b.Step, Cost: b.Cost, Root: b.Root, Variant: b.Variant, Of: q.save(b.Of), Known: b.Known}
	if len(b.Prefix) > 0 {
		at, ok := q.index[&b.Prefix[0]]
		if !ok {
			at = len(q.all)
			q.index[&b.Prefix[0]] = at
			q.all = append(q.all, nil)
		}
		if len(b.Prefix) > len(q.all[at]) {
			q.all[at] = b.Prefix
		}
		s.Sequence = at
	}
	return s
}

func (q *sequences) restore(s *savedBranch) (*branch, error) {
	if s == nil {
		return nil, nil
	}
	of, err := q.restore(s.Of)
	if err != nil {
		return nil, err
	}
	b := &branch{Step: s.Step, Cost: s.Cost, Root: s.Root, Variant: s.Variant, Of: of, Known: s.Known}
	if s.Length > 0 {
		if s.Sequence < 0 || s.Sequence >= len(q.all) || s.Length > len(q.all[s.Sequence]) {
			return nil, errors.New("a branch leaves an execution that is not saved")
		}
		b.Prefix = q.all[s.Sequence][:s.Length]
	}
	return b, nil
}

// MarshalBinary implements Strategy.
func (c *CHESS) MarshalBinary() ([]byte, error) {
	out := savedCHESS{chessState: c.state, Frontier: map[int][]*savedBranch{}, Flying: map[int]*savedBranch{}}
	q := sequences{index: map[*schedule.Step]int{}}
	for cost, branches := range c.state.Frontier {
		for _, b := range branches {
			out.Frontier[cost] = append(out.Frontier[cost], q.save(b))
		}
	}
	for key, b := range c.state.Flying {
		out.Flying[key] = q.save(b)
	}
	for _, s := range q.all {
		p := schedule.Plan{Script: s}
		for _, step := range s { // a plan names the threads of its script; here their numbers are enough
			for n := len(p.Threads); n <= int(step.Thread); n++ {
				p.Threads = append(p.Threads, trace.Thread{ID: trace.ThreadID(n), Name: uint64(n) + 1, Parent: -1, Nth: n})
			}
		}
		b, err := p.MarshalBinary()
		if err != nil {
			return nil, err
		}
		out.Sequences = append(out.Sequences, b)
	}
	return json.Marshal(&out)
}

// UnmarshalBinary implements Strategy.
func (c *CHESS) UnmarshalBinary(data []byte) error {
	var in savedCHESS
	if err := strict(data, &in); err != nil {
		return err
	}
	s := in.chessState
	if s.Bound != c.state.Bound || s.Delays != c.state.Delays {
		return fmt.Errorf("it explores schedules by another bound (%d, now %d): give the same --preemptions or --delays", s.Bound, c.state.Bound)
	}
	var q sequences
	for _, b := range in.Sequences {
		var p schedule.Plan
		if err := p.UnmarshalBinary(b); err != nil {
			return err
		}
		q.all = append(q.all, p.Script)
	}
	s.Frontier, s.Flying = map[int][]*branch{}, map[int]*branch{}
	for cost, branches := range in.Frontier {
		for _, saved := range branches {
			b, err := q.restore(saved)
			if err != nil {
				return err
			}
			s.Frontier[cost] = append(s.Frontier[cost], b)
		}
	}
	for key, saved := range in.Flying {
		b, err := q.restore(saved)
		if err != nil {
			return err
		}
		s.Flying[key] = b
	}
	if s.Executions == nil {
		s.Executions = map[int]int{}
	}
	c.state = s
	return nil
}
