package schedule

import (
	"bytes"
	"errors"
	"fmt"
	"math"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/heddle-dev/heddle/trace"
	"github.com/heddle-dev/heddle/trace/tracepb"
)

// CodecVersion is the version of marshalled plans and outcomes. It is raised whenever an older
// reader would carry out a plan, or understand an outcome, in another way than it was meant.
const CodecVersion = 13

// ErrCodec is what every error of unmarshalling a plan or an outcome is. An error is a
// *trace.PointsError as well if the other side has another meaning of scheduling points.
var ErrCodec = errors.New("not a plan or outcome of this heddle")

// maxCount bounds the numbers of a marshalled plan that an int has and a runtime counts in 32
// bits.
const maxCount = math.MaxInt32

// MarshalBinary implements encoding.BinaryMarshaler. A plan with a Watcher cannot be marshalled,
// because a watcher works in its own process only: the side that carries out the plan has to
// bring its own.
func (p *Plan) MarshalBinary() ([]byte, error) {
	if p.Watcher != nil {
		return nil, errors.New("a plan with a watcher cannot leave its process: a bug in heddle")
	}
	m := &tracepb.Plan{
		Version: CodecVersion, PointsVersion: PointsVersion,
		Tag: p.Tag, Seed: p.Seed, Repeat: uint32(p.Repeat),
		Mode: uint32(p.Mode), Policy: uint32(p.Policy), Stay: p.Stay, Depth: uint32(p.Depth), Length: uint32(p.Length),
		MaxSteps: uint32(p.MaxSteps), Cut: p.Cut, Turns: uint32(p.Turns.Visits), TurnsFrom: uint32(p.Turns.From), TurnsAfter: uint32(p.Turns.After), FairAfter: uint32(p.FairAfter), FairSeed: p.FairSeed, Timeouts: p.Timeouts, Delays: uint32(p.Delays), Spurious: p.Spurious, Haste: p.Haste, Cycles: p.Cycles,
		Record: p.Record, Accesses: p.Accesses, MaxAccesses: int64(p.MaxAccesses), SkipAccesses: uint64(p.SkipAccesses), Watch: p.Watch, Visits: p.Visits,
		Stop: p.Stop, ExpectStatus: p.ExpectStatus, Output: p.Output, Values: p.Values, OnlyShared: p.OnlyShared, Known: p.Known, Functions: p.Functions, States: p.States, WordsFrom: uint32(p.WordsFrom), Fault: trace.FaultRecord(p.Fault),
	}
	for _, n := range []int{p.Repeat, p.Depth, p.Length, p.MaxSteps, p.Turns.Visits, p.Turns.From, p.Turns.After, p.FairAfter, p.WordsFrom, p.SkipAccesses} {
		if n < 0 || n > maxCount {
			return nil, fmt.Errorf("a plan with a count of %d cannot leave its process: a bug in heddle", n)
		}
	}
	if len(p.Script) > 0 || len(p.Threads) > 0 {
		m.Script = encodeScript(p.Script, p.Threads)
	}
	for _, s := range p.Points {
		m.Points = append(m.Points, uint64(s))
	}
	for _, s := range p.Omit {
		m.Omit = append(m.Omit, uint64(s))
	}
	if err := p.CheckHolds(); err != nil {
		return nil, fmt.Errorf("a plan cannot leave its process: %w: a bug in heddle", err)
	}
	m.Holds = encodeHolds(p.Holds)
	if err := p.CheckWeights(); err != nil {
		return nil, fmt.Errorf("a plan cannot leave its process: %w: a bug in heddle", err)
	}
	for _, w := range p.Weights {
		m.Weights = append(m.Weights, uint32(w))
	}
	for _, s := range p.Interesting {
		m.Interesting = append(m.Interesting, uint64(s))
	}
	for _, s := range p.Sharing {
		m.Sharing = append(m.Sharing, uint64(s))
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(m)
}

// UnmarshalBinary implements encoding.BinaryUnmarshaler. It refuses, with an ErrCodec, a plan of
// another version of the codec or of scheduling points, one with fields or values that this heddle
// does not know, and one whose script names threads that the plan does not list. A thread has
// only its identity: parent, number and stable name.
func (p *Plan) UnmarshalBinary(data []byte) error {
	got, err := decodePlan(data)
	if err != nil {
		return codecError("plan", err)
	}
	*p = got
	return nil
}

func decodePlan(data []byte) (p Plan, err error) {
	m := new(tracepb.Plan)
	if err := unmarshal(data, m, &m.Version); err != nil {
		return p, err
	}
	if m.PointsVersion != PointsVersion {
		return p, &trace.PointsError{Got: int(m.PointsVersion), Want: PointsVersion}
	}
	switch {
	case m.Mode > uint32(Tolerant):
		return p, fmt.Errorf("%d is not a way of following a script", m.Mode)
	case int64(m.Policy) >= int64(len(policies)):
		return p, fmt.Errorf("%d is not a policy", m.Policy)
	case m.Delays > uint32(BriefDelays):
		return p, fmt.Errorf("%d is not a bound on delays", m.Delays)
	case !(m.Stay >= 0 && m.Stay <= 1):
		return p, fmt.Errorf("%v is not a probability", m.Stay)
	case m.MaxAccesses < AllAccesses || m.MaxAccesses > maxCount:
		return p, fmt.Errorf("%d is not a number of accesses", m.MaxAccesses)
	}
	if err := counts(uint64(m.Repeat), uint64(m.Depth), uint64(m.Length), uint64(m.MaxSteps), uint64(m.Turns), uint64(m.TurnsFrom), uint64(m.TurnsAfter), uint64(m.FairAfter), uint64(m.WordsFrom), m.SkipAccesses); err != nil {
		return p, err
	}
	p = Plan{
		Tag: m.Tag, Seed: m.Seed, Repeat: int(m.Repeat),
		Mode: Mode(m.Mode), Policy: Policy(m.Policy), Stay: m.Stay, Depth: int(m.Depth), Length: int(m.Length),
		MaxSteps: int(m.MaxSteps), Cut: m.Cut, Turns: Turns{int(m.Turns), int(m.TurnsFrom), int(m.TurnsAfter)}, FairAfter: int(m.FairAfter), FairSeed: m.FairSeed, Timeouts: m.Timeouts, Delays: Delays(m.Delays), Spurious: m.Spurious, Haste: m.Haste, Cycles: m.Cycles,
		Record: m.Record, Accesses: m.Accesses, MaxAccesses: int(m.MaxAccesses), SkipAccesses: int(m.SkipAccesses), Watch: m.Watch, Visits: m.Visits,
		Stop: m.Stop, ExpectStatus: m.ExpectStatus, Output: m.Output, Values: m.Values, OnlyShared: m.OnlyShared, Known: m.Known, Functions: m.Functions, States: m.States, WordsFrom: int(m.WordsFrom), Fault: trace.FaultOf(m.Fault),
	}
	if p.Fault != nil && !p.Fault.Model.Valid() {
		return p, errors.New("its fault is of no known model")
	}
	if len(m.Script.GetPoint()) > 0 {
		return p, errors.New("its script has points, which belong to the plan")
	}
	if m.Script != nil {
		if p.Script, p.Threads, err = decodeScript(m.Script); err != nil {
			return p, fmt.Errorf("its script %w", err)
		}
	}
	for _, s := range m.Points {
		p.Points = append(p.Points, trace.Site(s))
	}
	for _, s := range m.Omit {
		p.Omit = append(p.Omit, trace.Site(s))
	}
	if p.Holds, err = decodeHolds(m.Holds); err != nil {
		return p, err
	}
	for _, w := range m.Weights {
		p.Weights = append(p.Weights, int(w))
	}
	for _, s := range m.Interesting {
		p.Interesting = append(p.Interesting, trace.Site(s))
	}
	for _, s := range m.Sharing {
		p.Sharing = append(p.Sharing, trace.Site(s))
	}
	if err := p.CheckWeights(); err != nil {
		return p, err
	}
	return p, p.CheckHolds()
}

// MarshalBinary implements encoding.BinaryMarshaler. A recording is in it as a trace file is.
func (o *Outcome) MarshalBinary() ([]byte, error) {
	m := &tracepb.Outcome{
		Version: CodecVersion, Index: uint32(o.Index),
		Ending: trace.EndingToProto(&o.Ending), Output: o.Ending.Output,
		Signature: o.Signature, Points: uint32(o.Points), Switches: uint32(o.Switches), Preemptions: uint32(o.Preemptions),
		Threads: uint32(o.Threads), Deviations: uint32(o.Deviations), FairAt: uint32(o.FairAt), Passed: uint32(o.Passed), Stretches: uint32(o.Stretches), RelaxedCut: o.RelaxedCut, Cut: o.Cut, External: o.External, Shared: o.Shared, Random: o.Random, Skipped: o.Skipped, Unordered: uint32(o.Unordered),
	}
	for _, n := range []int{o.Index, o.Points, o.Switches, o.Preemptions, o.Threads, o.Deviations, o.FairAt, o.Passed, o.Stretches} {
		if n < 0 || n > maxCount {
			return nil, fmt.Errorf("an outcome with a count of %d cannot leave its process: a bug in heddle", n)
		}
	}
	if u := o.SetUp; u != (SetUp{}) {
		m.SetUp = &tracepb.SetUp{Continued: u.Continued, Because: []byte(u.Because), Site: uint64(u.Site)}
	}
	if o.Sharing != nil {
		m.Sharing = &tracepb.Sharing{}
		for _, s := range o.Sharing {
			m.Sharing.Site = append(m.Sharing.Site, uint64(s))
		}
	}
	for _, x := range o.LeftOut {
		if x.Event < 0 || x.Event > maxCount {
			return nil, fmt.Errorf("an outcome with an event number %d cannot leave its process: a bug in heddle", x.Event)
		}
		m.LeftOut = append(m.LeftOut, &tracepb.LeftOut{Event: uint32(x.Event), Accesses: x.Accesses})
	}
	for i := range o.Relaxed {
		x := &o.Relaxed[i]
		r := &tracepb.Relaxed{Site: uint64(x.Site), Order: x.Order, Weak: x.Weak}
		for _, s := range x.Calls {
			r.Calls = append(r.Calls, uint64(s))
		}
		m.Relaxed = append(m.Relaxed, r)
	}
	if d := o.Diverged; d != nil {
		m.Diverged = &tracepb.Divergence{Step: uint32(d.Step), Expected: decision(&d.Expected), Met: decision(&d.Met)}
	}
	var err error
	if m.Watched, err = encodeWatched(o.Watched); err != nil {
		return nil, err
	}
	if m.Holds, err = encodeHoldCounts(o.Holds); err != nil {
		return nil, err
	}
	if o.Trace != nil {
		var file bytes.Buffer
		if err := trace.Encode(&file, o.Trace); err != nil {
			return nil, err
		}
		m.Trace = file.Bytes()
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(m)
}

// UnmarshalBinary implements encoding.BinaryUnmarshaler. It refuses, with an ErrCodec, an outcome
// of another version of the codec, one with fields or values that this heddle does not know, and
// one whose recording is damaged or ended otherwise than the outcome says. As for any trace from
// outside, what trace.Validate asks of a recording is for the caller to check.
func (o *Outcome) UnmarshalBinary(data []byte) error {
	got, err := decodeOutcome(data)
	if err != nil {
		return codecError("outcome", err)
	}
	*o = got
	return nil
}

func decodeOutcome(data []byte) (o Outcome, err error) {
	m := new(tracepb.Outcome)
	if err := unmarshal(data, m, &m.Version); err != nil {
		return o, err
	}
	if err := counts(uint64(m.Index), uint64(m.Points), uint64(m.Switches), uint64(m.Preemptions), uint64(m.Threads), uint64(m.Deviations), uint64(m.FairAt), uint64(m.Passed), uint64(m.Stretches)); err != nil {
		return o, err
	}
	if m.Ending == nil {
		return o, errors.New("it has no ending")
	}
	o = Outcome{
		Index: int(m.Index), Signature: m.Signature, Points: int(m.Points), Switches: int(m.Switches), Preemptions: int(m.Preemptions),
		Threads: int(m.Threads), Deviations: int(m.Deviations), FairAt: int(m.FairAt), Passed: int(m.Passed), Stretches: int(m.Stretches), RelaxedCut: m.RelaxedCut, Cut: m.Cut, External: m.External, Shared: m.Shared, Random: m.Random, Skipped: m.Skipped, Unordered: SharedState(m.Unordered) & (sharedStates - 1),
	}
	if o.Ending, err = trace.EndingFromProto(m.Ending); err != nil {
		return o, err
	}
	if len(m.Output) > 0 {
		o.Ending.Output = m.Output
	}
	if u := m.SetUp; u != nil {
		o.SetUp = SetUp{Continued: u.Continued, Because: string(u.Because), Site: trace.Site(u.Site)}
	}
	if x := m.Sharing; x != nil {
		o.Sharing = make([]trace.Site, 0, len(x.Site))
		for _, s := range x.Site {
			o.Sharing = append(o.Sharing, trace.Site(s))
		}
	}
	for _, x := range m.LeftOut {
		if err := counts(uint64(x.Event)); err != nil {
			return o, err
		}
		o.LeftOut = append(o.LeftOut, LeftOut{int(x.Event), x.Accesses})
	}
	for _, r := range m.Relaxed {
		x := Relaxed{Site: trace.Site(r.Site), Order: r.Order, Weak: r.Weak}
		for _, s := range r.Calls {
			x.Calls = append(x.Calls, trace.Site(s))
		}
		o.Relaxed = append(o.Relaxed, x)
	}
	if d := m.Diverged; d != nil {
		o.Diverged = &Divergence{Step: int(d.Step)}
		if o.Diverged.Expected, err = stepOf(d.Expected); err == nil {
			o.Diverged.Met, err = stepOf(d.Met)
		}
		if err == nil {
			err = counts(uint64(d.Step))
		}
		if err != nil {
			return o, err
		}
	}
	if o.Watched, err = decodeWatched(m.Watched); err != nil {
		return o, err
	}
	if o.Holds, err = decodeHoldCounts(m.Holds); err != nil {
		return o, err
	}
	if len(m.Trace) > 0 {
		if o.Trace, err = trace.Decode(bytes.NewReader(m.Trace), trace.MemoryLimit(maxTrace)); err != nil {
			return o, fmt.Errorf("its recording: %w", err)
		}
		if o.Trace.Ending.Kind != o.Ending.Kind {
			return o, fmt.Errorf("it ended with %v, and its recording with %v", o.Ending.Kind, o.Trace.Ending.Kind)
		}
	}
	return o, nil
}

// maxTrace bounds the memory that the recording of a marshalled outcome may need.
const maxTrace = 1 << 30

func decision(s *Step) *tracepb.Decision {
	return &tracepb.Decision{
		Thread: int32(s.Thread), Op: uint32(s.Op), Site: uint64(s.Site),
		Wake: int32(s.Wake), Choice: uint32(s.Choice), Timeout: s.Timeout,
	}
}

func stepOf(d *tracepb.Decision) (Step, error) {
	if d == nil || d.Op > math.MaxUint16 {
		return Step{}, errors.New("it left its script at an impossible step")
	}
	return Step{
		Thread: trace.ThreadID(d.Thread), Op: trace.Op(d.Op), Site: trace.Site(d.Site),
		Wake: trace.ThreadID(d.Wake), Choice: int(d.Choice), Timeout: d.Timeout,
	}, nil
}

// unmarshal reads a message. A field that this heddle does not know is refused: to leave it out
// would change what the message means.
func unmarshal(data []byte, m proto.Message, version *uint32) error {
	if err := proto.Unmarshal(data, m); err != nil {
		return err
	}
	if *version != CodecVersion {
		return fmt.Errorf("it has version %d, and this heddle knows version %d: use the same heddle on both sides", *version, CodecVersion)
	}
	if unknown(m.ProtoReflect()) {
		return errors.New("it has fields that this heddle does not know: use the same heddle on both sides")
	}
	return nil
}

// unknown reports whether a message, or one inside it, has fields that this heddle does not know.
func unknown(m protoreflect.Message) bool {
	found := len(m.GetUnknown()) > 0
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.Message() == nil:
		case f.IsList():
			for i := range v.List().Len() {
				found = found || unknown(v.List().Get(i).Message())
			}
		default:
			found = found || unknown(v.Message())
		}
		return !found
	})
	return found
}

func counts(ns ...uint64) error {
	for _, n := range ns {
		if n > maxCount {
			return fmt.Errorf("%d is more than can be counted", n)
		}
	}
	return nil
}

func codecError(what string, err error) error {
	return fmt.Errorf("%w: the %s cannot be read: %w", ErrCodec, what, err)
}
