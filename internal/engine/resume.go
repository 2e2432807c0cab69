package engine

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// resumeVersion is the version of the state passed to Options.Save. Raise it whenever an older
// reader would continue with a different search.
const resumeVersion = 7

// savedSearch is the JSON form of an exploration that reached its bounds or was interrupted.
type savedSearch struct {
	Version int          `json:"version"`
	Options savedOptions `json:"options"`
	Search  []byte       `json:"search"` // strategy.Save
	Tag     uint64       `json:"tag"`    // of the first plan in flight
	Counts  savedCounts  `json:"counts"`
	Steps   int          `json:"maxSteps"` // step budget, which the first execution may have decided
	Seen    []byte       `json:"behaviours"`
	// Aside are the findings set aside, by key, with their numbers of executions.
	Aside map[string]int `json:"aside,omitempty"`
	// Endless is aside.endless.
	Endless map[string]string `json:"endless,omitempty"`
	// Patient is search.patient.
	Patient bool `json:"patient,omitempty"`
	// MemoryBudget is search.memoryBudget.
	MemoryBudget int `json:"memory_budget,omitempty"`
	// Cuts is search.cuts.
	Cuts cuts `json:"cuts"`
	// External says that an execution depended on external nondeterminism.
	External bool `json:"external,omitempty"`
	// Relaxed and More are search.relaxed.
	Relaxed []schedule.Relaxed `json:"relaxed,omitempty"`
	More    bool               `json:"relaxed_more,omitempty"`
	// Wide is search.wide.
	Wide map[trace.Site]uint32 `json:"wide,omitempty"`
}

// savedOptions are the options that shape plans and are not in strategy.Setting.
type savedOptions struct {
	ExpectStatus                             *int32
	MaxSteps                                 int
	NoEarlyTimeouts, EarlyTimeouts, Spurious bool
	Ignore                                   []string
	All                                      bool
	Cut                                      *int
}

type savedCounts struct{ Executions, Newest, NotReproduced, Masked int }

func (o *Options) shaping() savedOptions {
	ignore := slices.Compact(slices.Sorted(slices.Values(o.Ignore)))
	return savedOptions{o.ExpectStatus, o.MaxSteps, o.NoEarlyTimeouts, o.EarlyTimeouts, o.Spurious, ignore, o.All, o.Cut}
}

// save returns the state of the search in the form that Options.Resume accepts.
func (s *search) save() ([]byte, error) {
	var flight []strategy.InFlight
	tag, beyond := s.flight.tag-uint64(len(s.flight.plans)), s.beyond
	for _, p := range s.flight.plans {
		f := strategy.InFlight{Request: p.request, Observed: p.observed}
		f.Request.Plan.Repeat = p.whole
		if p.cut() {
			beyond = beyond[1:] // the same plan
		}
		flight = append(flight, f)
	}
	if len(flight) == 0 && len(beyond) > 0 && beyond[0].Observed > 0 {
		tag-- // it was in flight
	}
	flight = append(flight, beyond...)
	search, err := strategy.Save(s.strategy, s.setting, flight)
	if err != nil {
		return nil, err
	}
	out := savedSearch{
		Version: resumeVersion, Options: s.shaping, Search: search, Tag: tag, Steps: s.opts.MaxSteps,
		Counts: savedCounts{s.report.Executions, s.report.Newest, s.report.NotReproduced, s.report.Masked},
		Aside:  s.aside.executions, Endless: s.aside.endless, Patient: s.patient, Cuts: s.cuts, MemoryBudget: s.memoryBudget, External: s.external,
		Relaxed: s.relaxed.sorted(), More: s.relaxed.more, Wide: s.wide.saved(),
	}
	if out.Seen, err = s.behaviours.MarshalBinary(); err != nil {
		return nil, err
	}
	return json.Marshal(out)
}

// resume restores a saved search. The error is a strategy.ErrState.
func (s *search) resume(data []byte) error {
	var in savedSearch
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return fmt.Errorf("%w: %w", strategy.ErrState, err)
	}
	if in.Version != resumeVersion {
		return fmt.Errorf("%w: it is version %d, and this heddle continues version %d: start the search again", strategy.ErrState, in.Version, resumeVersion)
	}
	was, err := json.Marshal(in.Options)
	if err != nil {
		return err
	}
	is, err := json.Marshal(s.shaping)
	if err != nil {
		return err
	}
	if changed, err := strategy.Changed(was, is); err != nil {
		return err
	} else if changed != "" {
		return fmt.Errorf("%w: it was started with other options (%s): give the same ones", strategy.ErrState, changed)
	}
	if err := s.behaviours.UnmarshalBinary(in.Seen); err != nil {
		return fmt.Errorf("%w: %w", strategy.ErrState, err)
	}
	flight, err := strategy.Restore(in.Search, s.strategy, s.setting)
	if err != nil {
		return err
	}
	s.stage = s.strategy.Stage()
	s.opts.MaxSteps, s.patient, s.memoryBudget, s.cuts = in.Steps, in.Patient, in.MemoryBudget, in.Cuts
	s.report.Executions, s.report.Newest, s.report.NotReproduced, s.report.Masked = in.Counts.Executions, in.Counts.Newest, in.Counts.NotReproduced, in.Counts.Masked
	s.flight.tag = in.Tag
	for i := range flight {
		s.admit(flight[i].Request, flight[i].Observed)
	}
	for k, n := range in.Aside {
		s.aside.executions[k] = n
	}
	if in.Endless != nil {
		s.aside.endless = in.Endless
	}
	s.external = in.External
	s.relaxed.merge(in.Relaxed)
	s.relaxed.more = in.More
	s.wide.resume(in.Wide)
	return nil
}

// behavioursHeader and behavioursEntry are the binary form of behaviours, in little-endian order.
type behavioursHeader struct {
	Executions, Single uint64
	Since              uint32
}

type behavioursEntry struct {
	Signature uint64
	Plan      uint32
	Times     uint16
	Shared    bool
}

// MarshalBinary implements encoding.BinaryMarshaler.
func (b *behaviours) MarshalBinary() ([]byte, error) {
	out, err := binary.Append(nil, binary.LittleEndian, behavioursHeader{uint64(b.executions), uint64(b.single), b.since})
	if err != nil {
		return nil, err
	}
	for _, signature := range slices.Sorted(maps.Keys(b.seen)) {
		s := b.seen[signature]
		if out, err = binary.Append(out, binary.LittleEndian, behavioursEntry{signature, s.plan, s.times, s.shared}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// UnmarshalBinary implements encoding.BinaryUnmarshaler.
func (b *behaviours) UnmarshalBinary(data []byte) error {
	var h behavioursHeader
	n, err := binary.Decode(data, binary.LittleEndian, &h)
	data = data[n:]
	if size := binary.Size(behavioursEntry{}); err == nil && len(data)%size != 0 {
		err = errors.New("its behaviours are cut off")
	}
	if err != nil {
		return err
	}
	seen := map[uint64]sighting{}
	for len(data) > 0 {
		var e behavioursEntry
		if n, err = binary.Decode(data, binary.LittleEndian, &e); err != nil {
			return err
		}
		data = data[n:]
		seen[e.Signature] = sighting{e.Plan, e.Times, e.Shared}
	}
	*b = behaviours{seen: seen, executions: int(h.Executions), single: int(h.Single), since: h.Since}
	return nil
}
