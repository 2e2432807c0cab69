// Package perfetto writes an execution as a trace for Perfetto (https://ui.perfetto.dev): TrackEvents of
// its protobuf format, with a track for each thread.
//
//   - Time is the number of the event: event i happens at i microseconds. Recorded executions have no
//     other time.
//   - A slice is a thread execution interval (FSE'10 §3.1); its arguments say why it ended.
//   - An instant is an event, with its object, value, place, source line and call stack as arguments. What
//     threads waited for when the execution stopped is an instant after the last event.
//   - A flow leads from an event to one of another thread that it happened immediately before.
package perfetto

import (
	"bufio"
	"io"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/heddle-dev/heddle/internal/analysis/causal"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/report/perfetto/perfettopb"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/trace"
)

const (
	nanoseconds = 1000 // of an event
	processID   = 1
	processUUID = 1
	sequence    = 1 // all packets are of one writer
)

// Categories of track events.
const (
	intervalCategory = "interval"
	eventCategory    = "event"
	waitCategory     = "wait"
	failureCategory  = "failure"
)

// Render writes the trace file of a valid trace, of which v is the view. The error is the writer's.
func Render(w io.Writer, tr *trace.Trace, v *report.View) error {
	p := &writer{out: bufio.NewWriter(w), tr: tr, v: v, names: map[trace.ThreadID]string{}}
	p.tracks()
	rows := v.Full()
	p.flows(rows)
	p.events(rows)
	p.ending()
	if p.err != nil {
		return p.err
	}
	return p.out.Flush()
}

type writer struct {
	out   *bufio.Writer
	tr    *trace.Trace
	v     *report.View
	names map[trace.ThreadID]string
	// from and to are the flows by the events at which they begin and end.
	from, to map[int][]uint64
	err      error
}

// packet writes one packet as a field of the Trace message.
func (p *writer) packet(x *perfettopb.TracePacket) {
	x.OptionalTrustedPacketSequenceId = &perfettopb.TracePacket_TrustedPacketSequenceId{TrustedPacketSequenceId: sequence}
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(x)
	if err != nil {
		p.err = err
		return
	}
	b := protowire.AppendTag(nil, 1, protowire.BytesType)
	b = protowire.AppendBytes(b, data)
	p.out.Write(b)
}

// tracks describes the process and its threads.
func (p *writer) tracks() {
	name := "program"
	var words []string
	for _, w := range p.v.Command {
		words = append(words, wording.Line(w))
	}
	if len(words) > 0 {
		name = words[0]
	}
	p.packet(&perfettopb.TracePacket{
		SequenceFlags: proto.Uint32(uint32(perfettopb.TracePacket_SEQ_INCREMENTAL_STATE_CLEARED)),
		Data: &perfettopb.TracePacket_TrackDescriptor{TrackDescriptor: &perfettopb.TrackDescriptor{
			Uuid:    proto.Uint64(processUUID),
			Process: &perfettopb.ProcessDescriptor{Pid: proto.Int32(processID), ProcessName: proto.String(name), Cmdline: words},
		}},
	})
	for _, c := range p.v.Columns {
		p.names[c.Thread] = c.Name
		p.packet(&perfettopb.TracePacket{Data: &perfettopb.TracePacket_TrackDescriptor{TrackDescriptor: &perfettopb.TrackDescriptor{
			Uuid: proto.Uint64(track(c.Thread)), ParentUuid: proto.Uint64(processUUID),
			Thread: &perfettopb.ThreadDescriptor{Pid: proto.Int32(processID), Tid: proto.Int32(processID + int32(c.Thread)), ThreadName: proto.String(wording.Line(c.Label()))},
		}}})
	}
}

func track(t trace.ThreadID) uint64 { return processUUID + 1 + uint64(t) }

// flows numbers the flows between events that have a row.
func (p *writer) flows(rows []report.Row) {
	p.from, p.to = map[int][]uint64{}, map[int][]uint64{}
	shown := make([]bool, len(p.tr.Events))
	for i := range rows {
		if rows[i].Cell != nil {
			shown[rows[i].Event] = true
		}
	}
	id := uint64(0)
	causal.Each(p.tr, func(i int) bool { return shown[i] }, func(s *causal.Step) {
		for _, e := range s.After {
			id++
			p.from[e] = append(p.from[e], id)
			p.to[s.Event] = append(p.to[s.Event], id)
		}
	})
}

// events writes intervals and events.
func (p *writer) events(rows []report.Row) {
	running, last := trace.ThreadID(-1), 0
	var cause *report.Switch
	end := func() {
		if running < 0 {
			return
		}
		e := &perfettopb.TrackEvent{Type: perfettopb.TrackEvent_TYPE_SLICE_END.Enum()}
		if cause != nil && cause.From == running {
			e.DebugAnnotations = []*perfettopb.DebugAnnotation{text("ended by", cause.Text), text("reason", string(cause.Reason))}
		}
		p.event(last+1, running, e)
	}
	for i := range rows {
		r := &rows[i]
		if r.Kind == report.SwitchRow {
			cause = r.Switch
			continue
		}
		if r.Thread != running {
			end()
			running = r.Thread
			p.event(r.Event, running, &perfettopb.TrackEvent{
				Type: perfettopb.TrackEvent_TYPE_SLICE_BEGIN.Enum(), Categories: []string{intervalCategory}, NameField: named(p.names[running]),
			})
		}
		cause, last = nil, r.Event
		p.instant(r)
	}
	cause = nil
	end()
}

// instant writes the event of a row.
func (p *writer) instant(r *report.Row) {
	c := r.Cell
	e := &perfettopb.TrackEvent{
		Type: perfettopb.TrackEvent_TYPE_INSTANT.Enum(), Categories: []string{eventCategory}, NameField: named(c.Text),
		FlowIds: p.from[r.Event], TerminatingFlowIds: p.to[r.Event],
		DebugAnnotations: []*perfettopb.DebugAnnotation{number("event", uint64(r.Event)), text("operation", c.Op)},
	}
	if c.Failed {
		e.Categories = append(e.Categories, failureCategory)
		e.NameField = named("✗ " + c.Text)
	}
	for _, a := range []struct{ name, value string }{{"object", c.Object}, {"value", c.Value}} {
		if a.value != "" {
			e.DebugAnnotations = append(e.DebugAnnotations, text(a.name, a.value))
		}
	}
	p.place(e, c.Place, p.v.Stacks[c.Stack])
	p.event(r.Event, r.Thread, e)
}

// place adds a place, its source line, and a call stack.
func (p *writer) place(e *perfettopb.TrackEvent, place int, stack []int) {
	if place != 0 {
		at := &p.v.Places[place]
		e.DebugAnnotations = append(e.DebugAnnotations, text("place", at.Label))
		if at.Text != "" {
			e.DebugAnnotations = append(e.DebugAnnotations, text("source", at.Text))
		}
		if at.File != "" {
			l := &perfettopb.SourceLocation{FileName: proto.String(wording.Line(at.File)), LineNumber: proto.Uint32(uint32(at.Line))}
			if at.Func != "" {
				l.FunctionName = proto.String(wording.Line(at.Func))
			}
			e.SourceLocationField = &perfettopb.TrackEvent_SourceLocation{SourceLocation: l}
		}
	}
	if len(stack) > 1 {
		var frames []string
		for _, n := range stack {
			frames = append(frames, strings.TrimSpace(p.v.Places[n].Func+" "+p.v.Places[n].Label))
		}
		e.DebugAnnotations = append(e.DebugAnnotations, text("stack", strings.Join(frames, " < ")))
	}
}

// ending writes how the execution ended, and what threads waited for, after the last event.
func (p *writer) ending() {
	at := len(p.tr.Events)
	e := &perfettopb.TrackEvent{Type: perfettopb.TrackEvent_TYPE_INSTANT.Enum(), NameField: named(p.v.Ending)}
	f := p.v.Failure
	if f != nil {
		e.NameField = named("✗ " + f.Title)
		e.Categories = []string{failureCategory}
		if f.Object != "" {
			e.DebugAnnotations = append(e.DebugAnnotations, text("object", f.Object))
		}
		p.place(e, f.Place, f.Stack)
	}
	e.TrackUuid = proto.Uint64(processUUID)
	p.packet(&perfettopb.TracePacket{Timestamp: proto.Uint64(uint64(at) * nanoseconds), Data: &perfettopb.TracePacket_TrackEvent{TrackEvent: e}})
	if f == nil {
		return
	}
	for i, w := range f.Waits {
		e := &perfettopb.TrackEvent{Type: perfettopb.TrackEvent_TYPE_INSTANT.Enum(), Categories: []string{waitCategory}, NameField: named(w.Text)}
		if i < f.Ring {
			e.Categories = append(e.Categories, failureCategory)
		}
		p.place(e, w.Place, w.Stack)
		p.event(at, w.Thread, e)
	}
}

// event writes an event of a thread at the time of event number i.
func (p *writer) event(i int, t trace.ThreadID, e *perfettopb.TrackEvent) {
	e.TrackUuid = proto.Uint64(track(t))
	p.packet(&perfettopb.TracePacket{Timestamp: proto.Uint64(uint64(i) * nanoseconds), Data: &perfettopb.TracePacket_TrackEvent{TrackEvent: e}})
}

func named(s string) *perfettopb.TrackEvent_Name {
	return &perfettopb.TrackEvent_Name{Name: wording.Line(s)}
}

func text(name, value string) *perfettopb.DebugAnnotation {
	return &perfettopb.DebugAnnotation{
		NameField: &perfettopb.DebugAnnotation_Name{Name: name},
		Value:     &perfettopb.DebugAnnotation_StringValue{StringValue: wording.Line(value)},
	}
}

func number(name string, value uint64) *perfettopb.DebugAnnotation {
	return &perfettopb.DebugAnnotation{
		NameField: &perfettopb.DebugAnnotation_Name{Name: name},
		Value:     &perfettopb.DebugAnnotation_UintValue{UintValue: value},
	}
}
