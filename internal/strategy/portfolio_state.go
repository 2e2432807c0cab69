package strategy

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/heddle-dev/heddle/trace"
)

// portfolioState is the state of a Portfolio without what its setting and samplers determine.
type portfolioState struct {
	Random []byte         `json:"random"`
	Next   uint64         `json:"next"`
	Plans  int            `json:"plans"`
	Turn   int            `json:"turn"`
	Round  int            `json:"round"`
	Queue  []savedRequest `json:"queue,omitempty"`
	Flying int            `json:"flying"`
	Points []trace.Site   `json:"points,omitempty"`
	Fresh  []trace.Site   `json:"fresh,omitempty"`
	Seen   [2]Seen        `json:"seen"`
	Known  []recording    `json:"known,omitempty"`
	Skip   int            `json:"skip,omitempty"`
	Arms   []armState     `json:"arms"`
}

// armState is the state of an arm.
type armState struct {
	Tally tally  `json:"tally"`
	Guide []byte `json:"guide,omitempty"`
}

// MarshalBinary implements Strategy.
func (p *Portfolio) MarshalBinary() ([]byte, error) {
	random, err := p.source.MarshalBinary()
	if err != nil {
		return nil, err
	}
	s := portfolioState{
		Random: random, Next: p.next, Plans: p.plans, Turn: p.turn, Round: p.round, Flying: p.flying,
		Points: p.points, Fresh: p.fresh, Seen: p.seen, Known: p.known, Skip: p.skip,
	}
	for i := range p.queue {
		r, err := saveRequest(&p.queue[i])
		if err != nil {
			return nil, err
		}
		s.Queue = append(s.Queue, r)
	}
	for _, a := range p.arms {
		saved := armState{Tally: a.tally}
		if a.guide != nil {
			if saved.Guide, err = a.guide.MarshalBinary(); err != nil {
				return nil, err
			}
		}
		s.Arms = append(s.Arms, saved)
	}
	return json.Marshal(s)
}

// UnmarshalBinary implements Strategy.
func (p *Portfolio) UnmarshalBinary(data []byte) error {
	var s portfolioState
	if err := strict(data, &s); err != nil {
		return err
	}
	if len(s.Arms) != len(p.arms) {
		return fmt.Errorf("its portfolio has %d arms, and this one has %d", len(s.Arms), len(p.arms))
	}
	var queue []Request
	for i := range s.Queue {
		r, err := s.Queue[i].request()
		if err != nil {
			return err
		}
		if r.Key < 0 || r.Key >= len(p.arms) {
			return fmt.Errorf("its portfolio has a plan for arm %d of %d", r.Key, len(p.arms))
		}
		queue = append(queue, r)
	}
	if err := p.source.UnmarshalBinary(s.Random); err != nil {
		return err
	}
	p.next, p.plans, p.turn, p.round, p.queue, p.flying = s.Next, s.Plans, s.Turn, s.Round, queue, s.Flying
	p.points, p.fresh, p.seen, p.known, p.skip = s.Points, s.Fresh, s.Seen, s.Known, s.Skip
	clear(p.racing)
	for _, site := range slices.Concat(s.Points, s.Fresh) {
		p.racing[site] = true
	}
	for i, a := range p.arms {
		a.tally = s.Arms[i].Tally
		if a.guide != nil {
			if err := a.guide.UnmarshalBinary(s.Arms[i].Guide); err != nil {
				return err
			}
		}
	}
	return nil
}
