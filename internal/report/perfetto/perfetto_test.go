package perfetto

import (
	"bytes"
	"flag"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/heddle-dev/heddle/internal/analysis/hb"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/report/perfetto/perfettopb"
	"github.com/heddle-dev/heddle/internal/testing/need"
	"github.com/heddle-dev/heddle/internal/testing/reporttest"
	"github.com/heddle-dev/heddle/trace"
)

// These tests read traces back by Perfetto's schema. They do not run Perfetto's own trace processor:
// neither Debian nor a package registry has it.

var update = flag.Bool("update", false, "rewrite the golden files")

func render(t testing.TB, tr *trace.Trace, v *report.View) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Render(&b, tr, v); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func read(t testing.TB, data []byte) *perfettopb.Trace {
	t.Helper()
	out := &perfettopb.Trace{}
	if err := (proto.UnmarshalOptions{}).Unmarshal(data, out); err != nil {
		t.Fatal(err)
	}
	for _, p := range out.Packet {
		if len(p.ProtoReflect().GetUnknown()) > 0 {
			t.Errorf("unknown fields in %v", p)
		}
	}
	return out
}

// print is a trace as text, a line for each packet.
func print(x *perfettopb.Trace) string {
	var b strings.Builder
	for _, p := range x.Packet {
		if d := p.GetTrackDescriptor(); d != nil {
			fmt.Fprintf(&b, "track %d in %d: pid %d %q, tid %d %q\n", d.GetUuid(), d.GetParentUuid(), d.GetProcess().GetPid(), d.GetProcess().GetProcessName(), d.GetThread().GetTid(), d.GetThread().GetThreadName())
			continue
		}
		e := p.GetTrackEvent()
		fmt.Fprintf(&b, "%6d track %d %s %s %v", p.GetTimestamp(), e.GetTrackUuid(), strings.TrimPrefix(e.GetType().String(), "TYPE_"), e.GetName(), e.GetCategories())
		if len(e.FlowIds) > 0 {
			fmt.Fprintf(&b, " begins %v", e.FlowIds)
		}
		if len(e.TerminatingFlowIds) > 0 {
			fmt.Fprintf(&b, " ends %v", e.TerminatingFlowIds)
		}
		for _, a := range e.DebugAnnotations {
			switch v := a.GetValue().(type) {
			case *perfettopb.DebugAnnotation_UintValue:
				fmt.Fprintf(&b, " %s=%d", a.GetName(), v.UintValue)
			default:
				fmt.Fprintf(&b, " %s=%q", a.GetName(), a.GetStringValue())
			}
		}
		if l := e.GetSourceLocation(); l != nil {
			fmt.Fprintf(&b, " (%s %s:%d)", l.GetFunctionName(), l.GetFileName(), l.GetLineNumber())
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	reporttest.Golden(t, "testdata/perfetto.txtar", *update, func(t *testing.T, name string) []byte {
		tr, names := reporttest.Load(t, name)
		if len(tr.Events) > 100 {
			return nil
		}
		v := report.Build(tr, names, report.Options{})
		return []byte(print(read(t, render(t, tr, v))))
	})
}

// check tests what a reader relies on: time does not go back, slices of a track nest and end, each event
// is one instant inside of a slice of its thread, and each flow leads from one event to a later one that
// it happened before.
func check(t *testing.T, tr *trace.Trace, v *report.View, x *perfettopb.Trace) {
	t.Helper()
	tracks := map[uint64]trace.ThreadID{}
	open := map[uint64]int{}
	instants := map[int]trace.ThreadID{}
	begins := map[uint64]int{}
	ended := map[uint64]bool{}
	time, packets := uint64(0), 0
	engine := hb.New()
	var epochs []hb.Epoch
	for _, p := range x.Packet {
		if p.GetTrustedPacketSequenceId() == 0 {
			t.Fatal("a packet is of no sequence")
		}
		if d := p.GetTrackDescriptor(); d != nil {
			if d.Thread != nil {
				tracks[d.GetUuid()] = trace.ThreadID(d.Thread.GetTid() - processID)
			}
			continue
		}
		packets++
		e := p.GetTrackEvent()
		if p.GetTimestamp() < time {
			t.Fatalf("time goes from %d to %d", time, p.GetTimestamp())
		}
		time = p.GetTimestamp()
		thread, known := tracks[e.GetTrackUuid()]
		if !known && e.GetTrackUuid() != processUUID {
			t.Fatalf("event %v has no track", e)
		}
		switch e.GetType() {
		case perfettopb.TrackEvent_TYPE_SLICE_BEGIN:
			open[e.GetTrackUuid()]++
			for track, n := range open {
				if n > 0 && track != e.GetTrackUuid() {
					t.Fatalf("tracks %d and %d run at once", track, e.GetTrackUuid())
				}
			}
		case perfettopb.TrackEvent_TYPE_SLICE_END:
			open[e.GetTrackUuid()]--
		}
		if open[e.GetTrackUuid()] < 0 || open[e.GetTrackUuid()] > 1 {
			t.Fatalf("%d slices are open", open[e.GetTrackUuid()])
		}
		if !slices.Contains(e.Categories, eventCategory) {
			continue
		}
		i := int(time / nanoseconds)
		if open[e.GetTrackUuid()] != 1 || tr.Events[i].Thread != thread {
			t.Fatalf("event %d is outside of its thread", i)
		}
		if _, twice := instants[i]; twice {
			t.Fatalf("event %d is there twice", i)
		}
		instants[i] = thread
		for len(epochs) <= i {
			engine.Event(&tr.Events[len(epochs)])
			epochs = append(epochs, engine.Epoch(tr.Events[len(epochs)].Thread))
		}
		for _, id := range e.FlowIds {
			if _, twice := begins[id]; twice {
				t.Fatalf("flow %d begins twice", id)
			}
			begins[id] = i
		}
		for _, id := range e.TerminatingFlowIds {
			from, ok := begins[id]
			if !ok || ended[id] {
				t.Fatalf("flow %d ends, and did not begin or ended before", id)
			}
			ended[id] = true
			if from >= i || !engine.Before(epochs[from], thread) || tr.Events[from].Thread == thread {
				t.Fatalf("flow from event %d to %d", from, i)
			}
		}
	}
	for track, n := range open {
		if n != 0 {
			t.Errorf("a slice of track %d does not end", track)
		}
	}
	if len(ended) != len(begins) {
		t.Errorf("%d of %d flows end", len(ended), len(begins))
	}
	if want := len(tr.Events) - v.Hidden; len(instants) != want {
		t.Errorf("%d instants for %d events", len(instants), want)
	}
}

func TestTraces(t *testing.T) {
	for _, name := range reporttest.Fixtures() {
		tr, names := reporttest.Load(t, name)
		v := report.Build(tr, names, report.Options{})
		check(t, tr, v, read(t, render(t, tr, v)))
	}
	for seed := range uint64(60) {
		tr, names := reporttest.Random(t, seed, 1+int(seed%7), 30+int(seed*20))
		v := report.Build(tr, names, report.Options{})
		check(t, tr, v, read(t, render(t, tr, v)))
	}
}

// protoc, which knows nothing of the package, reads the file as well.
func TestProtoc(t *testing.T) {
	protoc := need.Tool(t, "protoc")
	tr, names := reporttest.Load(t, "deadlock")
	cmd := exec.CommandContext(t.Context(), protoc, "-Iperfettopb", "--decode=perfetto.protos.Trace", "perfetto_trace.proto")
	cmd.Stdin = bytes.NewReader(render(t, tr, report.Build(tr, names, report.Options{})))
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`thread_name: "T1 transfer"`, "type: TYPE_SLICE_BEGIN", `string_value: "bank.c:10"`, "terminating_flow_ids: 1", "timestamp: 3000"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%s is not in\n%s", want, out)
		}
	}
}
