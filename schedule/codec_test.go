package schedule

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/heddle-dev/heddle/trace"
	"github.com/heddle-dev/heddle/trace/tracepb"
)

func drawPlan(t *rapid.T) Plan {
	count := rapid.IntRange(0, maxCount)
	p := Plan{
		Tag: rapid.Uint64().Draw(t, "tag"), Seed: rapid.Uint64().Draw(t, "seed"), Repeat: count.Draw(t, "repeat"),
		Mode:   Mode(rapid.IntRange(0, int(Tolerant)).Draw(t, "mode")),
		Policy: Policy(rapid.IntRange(0, len(policies)-1).Draw(t, "policy")),
		Stay:   rapid.Float64Range(0, 1).Draw(t, "stay"), Depth: count.Draw(t, "depth"), Length: count.Draw(t, "length"),
		MaxSteps: count.Draw(t, "steps"), Turns: Turns{count.Draw(t, "turns"), count.Draw(t, "turns from"), count.Draw(t, "turns after")}, FairAfter: count.Draw(t, "fair after"), FairSeed: rapid.Uint64().Draw(t, "fair seed"), Timeouts: rapid.Bool().Draw(t, "timeouts"),
		Delays:   Delays(rapid.IntRange(0, int(AnyDelays)).Draw(t, "delays")),
		Spurious: rapid.Bool().Draw(t, "spurious"), Haste: rapid.Bool().Draw(t, "haste"), Cycles: rapid.Bool().Draw(t, "cycles"),
		Record: rapid.Bool().Draw(t, "record"), Accesses: rapid.Bool().Draw(t, "accesses"),
		MaxAccesses: rapid.IntRange(AllAccesses, maxCount).Draw(t, "max"), SkipAccesses: count.Draw(t, "skip"), Watch: rapid.Bool().Draw(t, "watch"),
		Stop: rapid.Bool().Draw(t, "stop"), Output: rapid.Bool().Draw(t, "output"), ExpectStatus: rapid.Int32().Draw(t, "status"),
	}
	p.Script, p.Threads = drawScript(t)
	for _, s := range rapid.SliceOf(rapid.Uint64()).Draw(t, "points") {
		p.Points = append(p.Points, trace.Site(s))
	}
	for range rapid.IntRange(0, 3).Draw(t, "holds") {
		site := rapid.Uint64Min(1)
		p.Holds = append(p.Holds, Hold{
			Site: trace.Site(site.Draw(t, "site")), Arrival: count.Draw(t, "arrival"), Thread: trace.ThreadID(rapid.IntRange(-1, len(p.Threads)-1).Draw(t, "thread")),
			Until: trace.Site(rapid.Uint64().Draw(t, "until")), When: Moment(rapid.IntRange(0, int(Reached)).Draw(t, "when")), Same: rapid.Bool().Draw(t, "same"),
			Last: trace.Site(site.Draw(t, "last")), Not: rapid.Bool().Draw(t, "not"), Steps: count.Draw(t, "steps"), Time: rapid.Bool().Draw(t, "time"),
		})
	}
	return p
}

// same compares what was read with what was written. An empty slice and none are the same.
func same(a, b Plan) bool {
	for _, p := range []*Plan{&a, &b} {
		if len(p.Threads) == 0 {
			p.Threads = nil
		}
		if len(p.Script) == 0 {
			p.Script = nil
		}
	}
	return reflect.DeepEqual(a, b)
}

func TestPlanRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlan(t)
		data, err := p.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		got := Plan{Tag: 1, Points: []trace.Site{7}} // the old contents are dropped
		if err := got.UnmarshalBinary(data); err != nil || !same(got, p) {
			t.Fatalf("%v, %+v, want %+v", err, got, p)
		}
	})
}

// TestCodecHasEveryField: a field that is added to a plan or an outcome has to travel.
func TestCodecHasEveryField(t *testing.T) {
	p := Plan{
		Tag: 1, Seed: 2, Repeat: 3, Mode: Tolerant, Script: []Step{{Thread: 0, Op: 4, Site: 5, Wake: -1}}, Threads: threads(1),
		Policy: PCT, Stay: 0.5, Depth: 6, Length: 7, Points: []trace.Site{8}, MaxSteps: 9, Cut: true, Turns: Turns{25, 26, 27}, FairAfter: 10, FairSeed: 11, Timeouts: true, Delays: AnyDelays,
		Spurious: true, Haste: true, Cycles: true, Record: true, Accesses: true, Values: true, OnlyShared: true, Known: true, Sharing: []trace.Site{28}, Functions: true, States: true, WordsFrom: 24, MaxAccesses: 10, SkipAccesses: 11, Watch: true, Visits: true, Stop: true, ExpectStatus: 12, Output: true, Fault: &trace.Fault{Model: trace.FaultKilled, Thread: 20, Site: 23, Index: 21, Amount: 22},
		Holds:   []Hold{{Site: 13, Arrival: 14, Thread: AnyThread, Until: 15, When: Reached, Same: true, Last: 16, Not: true, Steps: 17, Time: true}},
		Weights: []int{18}, Interesting: []trace.Site{19}, Omit: []trace.Site{28},
	}
	o := Outcome{
		Index: 1, Ending: trace.Ending{Kind: trace.Diverged, Message: "m", Output: []byte("text")}, Signature: 2, Points: 3, Switches: 4, Preemptions: 5,
		Threads: 6, Deviations: 7, FairAt: 8, Passed: 24, Stretches: 23, Diverged: &Divergence{Step: 8, Expected: Step{Thread: 1, Wake: 2, Choice: 3, Timeout: true}, Met: Step{Thread: -1, Wake: -1}},
		Relaxed: []Relaxed{{Site: 1, Calls: []trace.Site{2, 3}, Order: true, Weak: true}}, RelaxedCut: true, Cut: true,
		SetUp:    SetUp{Continued: true, Because: "a sleep", Site: 4},
		External: true, Sharing: []trace.Site{29}, LeftOut: []LeftOut{{Event: 30, Accesses: 1 << 40}}, Shared: true, Random: true, Skipped: true, Unordered: StreamState | ClockState,
		Watched: &Watched{
			Races: []Race{{
				Sites: [2]trace.Site{1, 2}, Ops: [2]trace.Op{trace.OpRead, trace.OpFree}, Threads: [2]trace.ThreadID{3, 4},
				Object: 5, Size: 6, Order: 7, Event: 8, Stack: 9, Handler: true,
			}},
			Counts: map[trace.Site]int{10: 11, 12: 13}, Accesses: 14, Full: true,
		},
		Holds: []HoldCount{{Arrived: 1, Held: 2, Done: 3, Nobody: 4, Steps: 5, Script: 6}},
		Trace: &trace.Trace{Header: trace.Header{Heddle: "1", Target: "c", PointsVersion: PointsVersion, Command: []string{"x"}}, Stacks: [][]trace.Site{nil},
			Ending: trace.Ending{Kind: trace.Diverged, Message: "m", Output: []byte("text")}},
	}
	for _, v := range []reflect.Value{reflect.ValueOf(p), reflect.ValueOf(o), reflect.ValueOf(*o.Watched), reflect.ValueOf(o.Watched.Races[0]), reflect.ValueOf(p.Holds[0]), reflect.ValueOf(p.Turns), reflect.ValueOf(o.Holds[0]), reflect.ValueOf(o.Relaxed[0])} {
		for i := range v.NumField() {
			if name := v.Type().Field(i).Name; v.Field(i).IsZero() && name != "Watcher" {
				t.Errorf("the test sets no %s", name)
			}
		}
	}
	var gotP Plan
	data, err := p.MarshalBinary()
	if err == nil {
		err = gotP.UnmarshalBinary(data)
	}
	if err != nil || !reflect.DeepEqual(gotP, p) {
		t.Errorf("%v, plan %+v, want %+v", err, gotP, p)
	}
	var gotO Outcome
	if data, err = o.MarshalBinary(); err == nil {
		err = gotO.UnmarshalBinary(data)
	}
	if err != nil {
		t.Fatal(err)
	}
	if a, b := gotO.Trace.Ending, o.Trace.Ending; !reflect.DeepEqual(a, b) || gotO.Trace.Header.Target != "c" {
		t.Errorf("recording %+v, want %+v", gotO.Trace, o.Trace)
	}
	gotO.Trace = o.Trace
	if !reflect.DeepEqual(gotO, o) {
		t.Errorf("outcome %+v, want %+v", gotO, o)
	}
}

func TestOutcomeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(0, maxCount)
		o := Outcome{
			Index: count.Draw(t, "index"), Signature: rapid.Uint64().Draw(t, "signature"), Points: count.Draw(t, "points"),
			Switches: count.Draw(t, "switches"), Preemptions: count.Draw(t, "preemptions"), Threads: count.Draw(t, "threads"),
			Deviations: count.Draw(t, "deviations"), FairAt: count.Draw(t, "fair at"), External: rapid.Bool().Draw(t, "external"), Shared: rapid.Bool().Draw(t, "shared"), Random: rapid.Bool().Draw(t, "random"), SetUp: SetUp{rapid.Bool().Draw(t, "continued"), rapid.String().Draw(t, "because"), trace.Site(rapid.Uint64().Draw(t, "cause"))}, Unordered: SharedState(rapid.Uint32Range(0, uint32(sharedStates)-1).Draw(t, "unordered")),
			Ending: trace.Ending{
				Kind: trace.Kind(rapid.Byte().Draw(t, "kind")), Status: rapid.Int32().Draw(t, "status"),
				Thread: trace.ThreadID(rapid.IntRange(-1, 9).Draw(t, "thread")), Message: rapid.String().Draw(t, "message"),
				Site: trace.Site(rapid.Uint64().Draw(t, "site")), Object: trace.Object(rapid.Uint64().Draw(t, "object")),
			},
		}
		if rapid.Bool().Draw(t, "watched") {
			o.Watched = drawWatched(t)
		}
		if text := rapid.SliceOf(rapid.Byte()).Draw(t, "output"); len(text) > 0 {
			o.Ending.Output = text
		}
		for range rapid.IntRange(0, 3).Draw(t, "waiters") {
			o.Ending.Stack = append(o.Ending.Stack, trace.Site(rapid.Uint64().Draw(t, "frame")))
			o.Ending.Cycle = append(o.Ending.Cycle, trace.ThreadID(rapid.IntRange(0, 9).Draw(t, "cycle")))
			o.Ending.Waiters = append(o.Ending.Waiters, trace.Waiter{Thread: 2, Op: trace.OpMutexLock, Site: 3, Object: 4, Holder: -1, Ready: true, Stack: 5})
			o.Ending.Accesses = append(o.Ending.Accesses, trace.Access{Thread: 1, Op: trace.OpRead, Site: 2, Object: 3, Size: 4, Stack: 5})
		}
		data, err := o.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var got Outcome
		if err := got.UnmarshalBinary(data); err != nil || !reflect.DeepEqual(got, o) {
			t.Fatalf("%v, %+v, want %+v", err, got, o)
		}
	})
}

func drawWatched(t *rapid.T) *Watched {
	count := rapid.IntRange(0, maxCount)
	w := &Watched{Accesses: int(rapid.Int64Min(0).Draw(t, "accesses")), Full: rapid.Bool().Draw(t, "full")}
	for range rapid.IntRange(0, 3).Draw(t, "races") {
		r := Race{
			Object: trace.Object(rapid.Uint64().Draw(t, "object")), Size: rapid.Uint32().Draw(t, "size"),
			Order: int(rapid.Int64Min(0).Draw(t, "order")), Event: count.Draw(t, "event"),
			Stack: rapid.Uint32().Draw(t, "stack"), Handler: rapid.Bool().Draw(t, "handler"),
		}
		for i := range r.Sites {
			r.Sites[i], r.Ops[i] = trace.Site(rapid.Uint64().Draw(t, "site")), trace.Op(rapid.Uint16().Draw(t, "op"))
			r.Threads[i] = trace.ThreadID(rapid.Int32().Draw(t, "thread"))
		}
		w.Races = append(w.Races, r)
	}
	for range rapid.IntRange(0, 3).Draw(t, "instructions") {
		if w.Counts == nil {
			w.Counts = map[trace.Site]int{}
		}
		w.Counts[trace.Site(rapid.Uint64().Draw(t, "instruction"))] = int(rapid.Int64Min(0).Draw(t, "times"))
	}
	return w
}

// TestCodecRefuses: what was made by another heddle, or says what cannot be, is an ErrCodec and
// leaves the old contents.
func TestCodecRefuses(t *testing.T) {
	plan := func(change func(*tracepb.Plan)) []byte {
		m := &tracepb.Plan{Version: CodecVersion, PointsVersion: PointsVersion}
		change(m)
		data, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	outcome := func(change func(*tracepb.Outcome)) []byte {
		m := &tracepb.Outcome{Version: CodecVersion, Ending: &tracepb.Ending{}}
		change(m)
		data, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	for _, test := range []struct {
		name, want string
		data       []byte
		outcome    bool
	}{
		{"empty", "version 0", nil, false},
		{"garbage", "cannot be read", []byte("hello, heddle"), false},
		{"version", "it has version 1, and this heddle knows version 13", plan(func(m *tracepb.Plan) { m.Version = 1 }), false},
		{"points", "scheduling points", plan(func(m *tracepb.Plan) { m.PointsVersion = PointsVersion + 1 }), false},
		{"unknown field", "fields that this heddle does not know", append(plan(func(*tracepb.Plan) {}), 0xa0, 0x3f, 1), false},
		{"unknown field inside", "fields that this heddle does not know", plan(func(m *tracepb.Plan) {
			m.Script = &tracepb.Schedule{}
			m.Script.ProtoReflect().SetUnknown([]byte{0xa0, 0x3f, 1})
		}), false},
		{"mode", "9 is not a way of following a script", plan(func(m *tracepb.Plan) { m.Mode = 9 }), false},
		{"points of a script", "which belong to the plan", plan(func(m *tracepb.Plan) { m.Script = &tracepb.Schedule{Point: []int64{1}} }), false},
		{"policy", "200 is not a policy", plan(func(m *tracepb.Plan) { m.Policy = 200 }), false},
		{"delays", "4 is not a bound on delays", plan(func(m *tracepb.Plan) { m.Delays = 4 }), false},
		{"stay", "NaN is not a probability", plan(func(m *tracepb.Plan) { m.Stay = math.NaN() }), false},
		{"accesses", "-2 is not a number of accesses", plan(func(m *tracepb.Plan) { m.MaxAccesses = -2 }), false},
		{"repeat", "4294967295 is more than can be counted", plan(func(m *tracepb.Plan) { m.Repeat = math.MaxUint32 }), false},
		{"script", "its script has a step of thread 3, where there are 0 threads", plan(func(m *tracepb.Plan) {
			m.Script = &tracepb.Schedule{Count: 1, IntervalThread: []uint32{3}, IntervalLength: []uint32{1}, CodeOp: []uint32{1}, CodeSite: []int64{1}}
		}), false},
		{"outcome's version", "it has version 14", outcome(func(m *tracepb.Outcome) { m.Version = 14 }), true},
		{"no ending", "it has no ending", outcome(func(m *tracepb.Outcome) { m.Ending = nil }), true},
		{"kind", "300 is not a kind of ending", outcome(func(m *tracepb.Outcome) { m.Ending.Kind = 300 }), true},
		{"divergence", "an impossible step", outcome(func(m *tracepb.Outcome) { m.Diverged = &tracepb.Divergence{} }), true},
		{"counts", "2 instructions with 1 numbers", outcome(func(m *tracepb.Outcome) { m.Watched = &tracepb.Watched{Sites: []uint64{1, 2}, Counts: []uint64{1}} }), true},
		{"count", "more than can be counted", outcome(func(m *tracepb.Outcome) { m.Watched = &tracepb.Watched{Sites: []uint64{1}, Counts: []uint64{1 << 63}} }), true},
		{"accesses of an outcome", "more than can be counted", outcome(func(m *tracepb.Outcome) { m.Watched = &tracepb.Watched{Accesses: 1 << 63} }), true},
		{"race", "an impossible race", outcome(func(m *tracepb.Outcome) { m.Watched = &tracepb.Watched{Races: []*tracepb.WatchedRace{{}}} }), true},
		{"recording", "its recording", outcome(func(m *tracepb.Outcome) { m.Trace = []byte("not a trace") }), true},
		{"unknown field of an outcome", "fields that this heddle does not know", append(outcome(func(*tracepb.Outcome) {}), 0xa0, 0x3f, 1), true},
	} {
		p, o := Plan{Tag: 5}, Outcome{Index: 5}
		err := p.UnmarshalBinary(test.data)
		if test.outcome {
			err = o.UnmarshalBinary(test.data)
		}
		if !errors.Is(err, ErrCodec) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
		if p.Tag != 5 || o.Index != 5 {
			t.Errorf("%s: %+v, %+v were changed", test.name, p, o)
		}
		var points *trace.PointsError
		if errors.As(err, &points) != (test.name == "points") {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	if _, err := (&Plan{Repeat: -1}).MarshalBinary(); err == nil {
		t.Error("a negative count was marshalled")
	}
	if _, err := (&Plan{Watcher: watcher{}}).MarshalBinary(); err == nil {
		t.Error("a watcher was left behind in silence")
	}
}

type watcher struct{}

func (watcher) Begin(int64)        {}
func (watcher) Event(*trace.Event) {}
func (watcher) Unseen()            {}

// TestOutcomeAndRecordingAgree: an outcome cannot say one thing and its recording another.
func TestOutcomeAndRecordingAgree(t *testing.T) {
	o := Outcome{Ending: trace.Ending{Kind: trace.Deadlock}, Trace: &trace.Trace{Stacks: [][]trace.Site{nil}}}
	data, err := o.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if err := o.UnmarshalBinary(data); !errors.Is(err, ErrCodec) || !strings.Contains(err.Error(), "it ended with deadlock, and its recording with clean") {
		t.Errorf("%v", err)
	}
}

// TestEnds: when no further execution of a plan is to be expected.
func TestEnds(t *testing.T) {
	clean, other, leak := trace.Ending{}, trace.Ending{Status: 3}, trace.Ending{Kind: trace.Leak}
	for _, test := range []struct {
		plan  Plan
		index int
		e     trace.Ending
		want  bool
	}{
		{Plan{}, 0, clean, true}, // 0 means 1
		{Plan{Repeat: 2}, 0, clean, false},
		{Plan{Repeat: 2}, 1, clean, true},
		{Plan{Repeat: 2}, 0, other, false},
		{Plan{Repeat: 2, Stop: true}, 0, clean, false},
		{Plan{Repeat: 2, Stop: true}, 0, other, true},
		{Plan{Repeat: 2, Stop: true, ExpectStatus: 3}, 0, other, false},
		{Plan{Repeat: 2, Stop: true}, 0, leak, false},
		{Plan{Repeat: 2, Stop: true}, 0, trace.Ending{Kind: trace.Hang}, true},
	} {
		if got := test.plan.Ends(&Outcome{Index: test.index, Ending: test.e}); got != test.want {
			t.Errorf("%+v, execution %d, %+v: %v", test.plan, test.index, test.e, got)
		}
	}
}

// FuzzPlan: whatever is read can be written, and is then read as the same plan.
func FuzzPlan(f *testing.F) {
	for _, p := range []Plan{{}, {Seed: 7, Repeat: 16, Stop: true, Policy: PCT, Depth: 3, Length: 90, Points: []trace.Site{1, 2}}, {Mode: Strict, Script: rounds(2, 3), Threads: threads(2)}} {
		data, err := p.MarshalBinary()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var p, again Plan
		if err := p.UnmarshalBinary(data); err != nil {
			if !errors.Is(err, ErrCodec) {
				t.Fatal(err)
			}
			return
		}
		data, err := p.MarshalBinary()
		if err == nil {
			err = again.UnmarshalBinary(data)
		}
		if err != nil || !same(p, again) {
			t.Fatalf("%v, %+v, then %+v", err, p, again)
		}
	})
}

// FuzzOutcome is the same for outcomes.
func FuzzOutcome(f *testing.F) {
	for _, o := range []Outcome{
		{}, {Index: 3, Signature: 9, Ending: trace.Ending{Kind: trace.Assertion, Message: "x == y", Output: []byte("text")}},
		{Diverged: &Divergence{Step: 1}, Ending: trace.Ending{Kind: trace.Diverged}},
		{Trace: &trace.Trace{Stacks: [][]trace.Site{nil}, Threads: threads(1), Events: []trace.Event{{Op: trace.OpThreadStart}}}},
	} {
		data, err := o.MarshalBinary()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var o, again Outcome
		if err := o.UnmarshalBinary(data); err != nil {
			if !errors.Is(err, ErrCodec) {
				t.Fatal(err)
			}
			return
		}
		first, err := o.MarshalBinary()
		if err != nil && o.Trace != nil {
			return // an invalid recording, which trace.Validate refuses
		}
		if err == nil {
			err = again.UnmarshalBinary(first)
		}
		second, err2 := again.MarshalBinary()
		if err != nil || err2 != nil || !bytes.Equal(first, second) {
			t.Fatalf("%v, %v, %+v, then %+v", err, err2, o, again)
		}
	})
}
