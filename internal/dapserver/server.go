// Package dapserver serves the Debug Adapter Protocol, with which editors step through a recorded execution,
// forwards and backwards. The state after each event is worked out from the trace: nothing is executed, except for
// expressions that the trace cannot answer, which Server.Evaluate does.
package dapserver

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/google/go-dap"

	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/trace"
)

// Server serves one client.
type Server struct {
	// Open reads a trace, with the directories in which to look for source files too.
	Open func(file string, sources []string) (*trace.Trace, *report.View, error)
	// Evaluate returns the value of an expression of the program's language in the innermost frame of the thread of an
	// event, once the event has been done. Nil if nothing can.
	Evaluate func(ctx context.Context, file string, event int, expression string) (string, error)
}

// launchArguments are those of a launch request.
type launchArguments struct {
	Trace   string   `json:"trace"`
	Sources []string `json:"sources"` // directories to look for source files in, too
	// StopOnEntry is true unless it is false: otherwise the execution is at its end, or at the first breakpoint.
	StopOnEntry *bool `json:"stopOnEntry"`
	Event       *int  `json:"event"` // where to begin
}

// conversation is one client's.
type conversation struct {
	server *Server
	ctx    context.Context
	out    io.Writer
	mu     sync.Mutex // of out and sequence
	number int        // of the last message sent

	launched launchArguments
	session  *session // nil before launch
}

// Serve reads requests and answers them until the client disconnects, the input ends or ctx is done. The error is
// that of the streams.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	c := &conversation{server: s, ctx: ctx, out: out}
	messages := make(chan dap.Message)
	failed := make(chan error, 1)
	go func() {
		r := bufio.NewReader(in)
		for {
			m, err := dap.ReadProtocolMessage(r)
			var unknown *dap.DecodeProtocolMessageFieldError
			if errors.As(err, &unknown) {
				m, err = unsupported{unknown}, nil
			}
			if err != nil {
				failed <- err
				return
			}
			select {
			case messages <- m:
			case <-ctx.Done():
				return
			}
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-failed:
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return nil
			}
			return fmt.Errorf("cannot read the client's message: %w", err)
		case m := <-messages:
			over, err := c.handle(m)
			if over || err != nil {
				return err
			}
		}
	}
}

// unsupported is a message that the protocol's library does not know.
type unsupported struct {
	*dap.DecodeProtocolMessageFieldError
}

func (u unsupported) GetSeq() int { return u.Seq }

// send sends a response or an event.
func (c *conversation) send(m dap.Message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.number++
	switch m := m.(type) {
	case dap.ResponseMessage:
		m.GetResponse().Seq = c.number
	case dap.EventMessage:
		m.GetEvent().Seq = c.number
	}
	return dap.WriteProtocolMessage(c.out, m)
}

// answered is a successful response to a request.
func answered(r *dap.Request) dap.Response {
	return dap.Response{ProtocolMessage: dap.ProtocolMessage{Type: "response"}, Command: r.Command, RequestSeq: r.Seq, Success: true}
}

func event(name string) dap.Event {
	return dap.Event{ProtocolMessage: dap.ProtocolMessage{Type: "event"}, Event: name}
}

// refuse answers a request with an error.
func (c *conversation) refuse(seq int, command string, why error) error {
	r := &dap.ErrorResponse{Response: dap.Response{ProtocolMessage: dap.ProtocolMessage{Type: "response"}, Command: command, RequestSeq: seq, Message: why.Error()}}
	r.Body.Error = &dap.ErrorMessage{Id: 1, Format: "{reason}", Variables: map[string]string{"reason": why.Error()}, ShowUser: true}
	return c.send(r)
}

// handle answers a message. over is true after the last one.
func (c *conversation) handle(m dap.Message) (over bool, err error) {
	if u, ok := m.(unsupported); ok {
		return false, c.refuse(u.Seq, u.FieldValue, fmt.Errorf("heddle dap does not know the request %q", u.FieldValue))
	}
	message, ok := m.(dap.RequestMessage)
	if !ok {
		return false, nil // responses and events are a server's
	}
	r := message.GetRequest()
	after := []dap.Message{}
	response, err := c.answer(message, &after)
	if err != nil {
		return false, c.refuse(r.Seq, r.Command, err)
	}
	if err := c.send(response); err != nil {
		return false, err
	}
	for _, m := range after {
		if err := c.send(m); err != nil {
			return false, err
		}
	}
	switch message.(type) {
	case *dap.DisconnectRequest, *dap.TerminateRequest:
		return true, c.send(&dap.TerminatedEvent{Event: event("terminated")})
	}
	return false, nil
}

// answer returns the response to a request, and the events to send after it.
func (c *conversation) answer(m dap.RequestMessage, after *[]dap.Message) (dap.Message, error) {
	ok := answered(m.GetRequest())
	switch m := m.(type) {
	case *dap.InitializeRequest:
		*after = append(*after, &dap.InitializedEvent{Event: event("initialized")})
		return &dap.InitializeResponse{Response: ok, Body: dap.Capabilities{
			SupportsConfigurationDoneRequest: true, SupportsFunctionBreakpoints: true, SupportsStepBack: true, SupportsRestartRequest: true,
			SupportsDataBreakpoints: true, SupportsExceptionInfoRequest: true, SupportsGotoTargetsRequest: true, SupportsTerminateRequest: true,
			SupportsEvaluateForHovers: true,
		}}, nil
	case *dap.LaunchRequest:
		return &dap.LaunchResponse{Response: ok}, c.launch(m.Arguments)
	case *dap.DisconnectRequest:
		return &dap.DisconnectResponse{Response: ok}, nil
	case *dap.TerminateRequest:
		return &dap.TerminateResponse{Response: ok}, nil
	case *dap.SetExceptionBreakpointsRequest:
		return &dap.SetExceptionBreakpointsResponse{Response: ok}, nil
	case *dap.AttachRequest:
		return nil, errors.New("heddle dap steps through a trace: use launch, with \"trace\"")
	}
	s := c.session
	if s == nil {
		return nil, errors.New("no trace is open: launch one first, with \"trace\"")
	}
	stopped := func(reason string) { *after = append(*after, s.stopped(reason)) }
	switch m := m.(type) {
	case *dap.SetBreakpointsRequest:
		return &dap.SetBreakpointsResponse{Response: ok, Body: dap.SetBreakpointsResponseBody{Breakpoints: s.setBreakpoints(&m.Arguments)}}, nil
	case *dap.SetFunctionBreakpointsRequest:
		return &dap.SetFunctionBreakpointsResponse{Response: ok, Body: dap.SetFunctionBreakpointsResponseBody{Breakpoints: s.setFunctions(m.Arguments.Breakpoints)}}, nil
	case *dap.DataBreakpointInfoRequest:
		return &dap.DataBreakpointInfoResponse{Response: ok, Body: s.dataInfo(m.Arguments.Name)}, nil
	case *dap.SetDataBreakpointsRequest:
		return &dap.SetDataBreakpointsResponse{Response: ok, Body: dap.SetDataBreakpointsResponseBody{Breakpoints: s.setData(m.Arguments.Breakpoints)}}, nil
	case *dap.ConfigurationDoneRequest:
		stopped(s.begin(&c.launched))
		return &dap.ConfigurationDoneResponse{Response: ok}, nil
	case *dap.RestartRequest:
		stopped(s.begin(&c.launched))
		return &dap.RestartResponse{Response: ok}, nil
	case *dap.ThreadsRequest:
		return &dap.ThreadsResponse{Response: ok, Body: dap.ThreadsResponseBody{Threads: s.threads()}}, nil
	case *dap.StackTraceRequest:
		frames := s.stack(m.Arguments.ThreadId)
		total := len(frames)
		from := min(m.Arguments.StartFrame, total)
		if n := m.Arguments.Levels; n > 0 {
			frames = frames[from:min(from+n, total)]
		} else {
			frames = frames[from:]
		}
		return &dap.StackTraceResponse{Response: ok, Body: dap.StackTraceResponseBody{StackFrames: frames, TotalFrames: total}}, nil
	case *dap.ScopesRequest:
		return &dap.ScopesResponse{Response: ok, Body: dap.ScopesResponseBody{Scopes: s.scopes(m.Arguments.FrameId)}}, nil
	case *dap.VariablesRequest:
		return &dap.VariablesResponse{Response: ok, Body: dap.VariablesResponseBody{Variables: s.variables(m.Arguments.VariablesReference)}}, nil
	case *dap.ContinueRequest:
		stopped(s.run(1))
		return &dap.ContinueResponse{Response: ok, Body: dap.ContinueResponseBody{AllThreadsContinued: true}}, nil
	case *dap.ReverseContinueRequest:
		stopped(s.run(-1))
		return &dap.ReverseContinueResponse{Response: ok}, nil
	case *dap.NextRequest:
		stopped(s.step(1, s.of(m.Arguments.ThreadId)))
		return &dap.NextResponse{Response: ok}, nil
	case *dap.StepInRequest:
		stopped(s.step(1, anyThread))
		return &dap.StepInResponse{Response: ok}, nil
	case *dap.StepOutRequest:
		stopped(s.step(1, s.outside(m.Arguments.ThreadId)))
		return &dap.StepOutResponse{Response: ok}, nil
	case *dap.StepBackRequest:
		stopped(s.step(-1, s.of(m.Arguments.ThreadId)))
		return &dap.StepBackResponse{Response: ok}, nil
	case *dap.PauseRequest:
		stopped("pause")
		return &dap.PauseResponse{Response: ok}, nil
	case *dap.GotoTargetsRequest:
		return &dap.GotoTargetsResponse{Response: ok, Body: dap.GotoTargetsResponseBody{Targets: s.targets(m.Arguments.Source.Path, m.Arguments.Line)}}, nil
	case *dap.GotoRequest:
		if err := s.goTo(m.Arguments.TargetId - 1); err != nil {
			return nil, err
		}
		stopped("goto")
		return &dap.GotoResponse{Response: ok}, nil
	case *dap.ExceptionInfoRequest:
		return &dap.ExceptionInfoResponse{Response: ok, Body: s.exception()}, nil
	case *dap.EvaluateRequest:
		value, moved, err := c.evaluate(&m.Arguments)
		if err != nil {
			return nil, err
		}
		if moved {
			stopped("goto")
		}
		return &dap.EvaluateResponse{Response: ok, Body: dap.EvaluateResponseBody{Result: value}}, nil
	}
	return nil, fmt.Errorf("heddle dap does not support the request %q", m.GetRequest().Command)
}

// launch opens the trace of a launch request.
func (c *conversation) launch(arguments json.RawMessage) error {
	if err := json.Unmarshal(arguments, &c.launched); err != nil {
		return fmt.Errorf("the arguments of launch are not understood: %w", err)
	}
	if c.launched.Trace == "" {
		return errors.New("launch has no \"trace\": name a trace file, as heddle find writes it")
	}
	tr, v, err := c.server.Open(c.launched.Trace, c.launched.Sources)
	if err != nil {
		return err
	}
	c.session = newSession(tr, v)
	if e := c.launched.Event; e != nil {
		return c.session.goTo(*e)
	}
	return nil
}

// evaluate answers an expression: `event 12` goes there, the name of an object has the value that the trace shows, and
// anything else is the program's debugger's.
func (c *conversation) evaluate(a *dap.EvaluateArguments) (value string, moved bool, err error) {
	s := c.session
	var e int
	if n, _ := fmt.Sscanf(a.Expression, "event %d", &e); n == 1 {
		if err := s.goTo(e); err != nil {
			return "", false, err
		}
		return s.describe(), true, nil
	}
	if k, ok := s.known(a.Expression); ok {
		return k.Value, false, nil
	}
	if a.Context == "hover" || c.server.Evaluate == nil {
		return "", false, fmt.Errorf("the trace shows no value of %s up to here", a.Expression)
	}
	if e = s.current(); e < 0 {
		return "", false, errors.New("no event has happened yet")
	}
	value, err = c.server.Evaluate(c.ctx, c.launched.Trace, e, a.Expression)
	if err == nil && s.accesses(e) {
		value += fmt.Sprintf(" (before the access of event %d takes effect)", e)
	}
	return value, false, err
}
