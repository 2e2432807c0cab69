package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-dap"

	"github.com/heddle-dev/heddle/internal/testing/need"
)

// editor is a client of heddle dap.
type editor struct {
	t   *testing.T
	out io.Writer
	in  *bufio.Reader
	seq int
}

// startEditor starts heddle dap as a process.
func startEditor(t *testing.T, dir string) (*editor, *exec.Cmd) {
	t.Helper()
	cmd := heddleCommand(t, dir, nil, "dap")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); _ = cmd.Wait() })
	return &editor{t: t, out: in, in: bufio.NewReader(out)}, cmd
}

// request sends a request and returns its response, and the next stopped event if one follows at once.
func (e *editor) request(command string, arguments any) dap.Message {
	e.t.Helper()
	e.seq++
	text, err := json.Marshal(map[string]any{"seq": e.seq, "type": "request", "command": command, "arguments": arguments})
	if err != nil {
		e.t.Fatal(err)
	}
	if err := dap.WriteBaseMessage(e.out, text); err != nil {
		e.t.Fatal(err)
	}
	return e.receive()
}

func (e *editor) receive() dap.Message {
	e.t.Helper()
	got := make(chan dap.Message, 1)
	go func() {
		m, err := dap.ReadProtocolMessage(e.in)
		if err != nil {
			e.t.Error(err)
		}
		got <- m
	}()
	select {
	case m := <-got:
		return m
	case <-time.After(60 * time.Second):
		e.t.Fatal("no answer")
		return nil
	}
}

// ask is request for one that must succeed.
func ask[R dap.Message](e *editor, command string, arguments any) R {
	e.t.Helper()
	m := e.request(command, arguments)
	r, ok := m.(R)
	if !ok {
		text, _ := json.Marshal(m)
		e.t.Fatalf("%s: %s", command, text)
	}
	return r
}

// move is a request after which the execution stops elsewhere; it returns the reason and what is said there.
func (e *editor) move(command string, arguments any) (reason, text string) {
	e.t.Helper()
	m := e.request(command, arguments)
	if r, ok := m.(dap.ResponseMessage); !ok || !r.GetResponse().Success {
		text, _ := json.Marshal(m)
		e.t.Fatalf("%s: %s", command, text)
	}
	stopped, ok := e.receive().(*dap.StoppedEvent)
	if !ok {
		e.t.Fatalf("%s: the execution did not stop", command)
	}
	return stopped.Body.Reason, stopped.Body.Text
}

// refused is the message of a request that must fail.
func (e *editor) refused(command string, arguments any) string {
	e.t.Helper()
	r, ok := e.request(command, arguments).(*dap.ErrorResponse)
	if !ok || r.Success || r.Body.Error == nil {
		e.t.Fatalf("%s did not fail", command)
	}
	return r.Message
}

// An editor steps through a lost update, forwards and backwards.
func TestDAP(t *testing.T) {
	t.Parallel()
	dir, file := found(t, "lost_update.c")
	source := filepath.Join(repository(t), "testdata/programs/fail/lost_update.c")
	e, cmd := startEditor(t, dir)
	ask[*dap.InitializeResponse](e, "initialize", map[string]any{"adapterID": "heddle"})
	if _, ok := e.receive().(*dap.InitializedEvent); !ok {
		t.Error("no initialized event")
	}

	// Bad input has an answer, and the conversation goes on.
	for _, c := range []struct {
		command   string
		arguments any
		want      string
	}{
		{"threads", nil, "no trace is open"},
		{"launch", map[string]any{}, `launch has no "trace"`},
		{"launch", map[string]any{"trace": "missing.hdl"}, "cannot read missing.hdl"},
		{"launch", map[string]any{"trace": source}, "lost_update.c"},
		{"attach", map[string]any{}, "use launch"},
		{"noSuchRequest", nil, "noSuchRequest"},
		{"modules", nil, "no trace is open"},
	} {
		if got := e.refused(c.command, c.arguments); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.command, got, c.want)
		}
	}

	ask[*dap.LaunchResponse](e, "launch", map[string]any{"trace": file})
	b := ask[*dap.SetBreakpointsResponse](e, "setBreakpoints", map[string]any{"source": map[string]any{"path": source}, "breakpoints": []any{map[string]any{"line": 20}, map[string]any{"line": 3}}})
	if got := b.Body.Breakpoints; len(got) != 2 || !got[0].Verified || got[0].Line != 21 || got[1].Verified {
		t.Errorf("breakpoints: %+v", got)
	}
	if reason, text := e.move("configurationDone", nil); reason != "entry" || !strings.HasPrefix(text, "event 0, T0: create T1") {
		t.Errorf("%s, %s", reason, text)
	}

	// Through the breakpoints to the failure: two reads and two writes.
	var texts []string
	for {
		reason, text := e.move("continue", map[string]any{"threadId": 1})
		if reason == "exception" {
			if !strings.HasPrefix(text, "assertion `account.balance == 160' failed") {
				t.Errorf("the end is %q", text)
			}
			break
		}
		if reason != "breakpoint" || len(texts) > 4 {
			t.Fatalf("%s at %s", reason, text)
		}
		texts = append(texts, text)
	}
	if len(texts) != 4 {
		t.Errorf("breakpoints at %q", texts)
	}
	info := ask[*dap.ExceptionInfoResponse](e, "exceptionInfo", map[string]any{"threadId": 1})
	if info.Body.ExceptionId != "assertion" {
		t.Errorf("%+v", info.Body)
	}
	frames := ask[*dap.StackTraceResponse](e, "stackTrace", map[string]any{"threadId": 1})
	if f := frames.Body.StackFrames; len(f) == 0 || f[0].Name != "main" || f[0].Line != 30 || f[0].Source == nil || f[0].Source.Path != source {
		t.Errorf("frames: %+v", f)
	}

	// Backwards, to the same places.
	for i := 3; i >= 0; i-- {
		if reason, text := e.move("reverseContinue", map[string]any{"threadId": 1}); reason != "breakpoint" || text != texts[i] {
			t.Errorf("%s at %s, want %s", reason, text, texts[i])
		}
	}
	if reason, _ := e.move("reverseContinue", map[string]any{"threadId": 1}); reason != "entry" {
		t.Errorf("%s at the beginning", reason)
	}

	// Memory is what the accesses have shown, here and after stepping back.
	memory := func() map[string]string {
		out := map[string]string{}
		for _, v := range ask[*dap.VariablesResponse](e, "variables", map[string]any{"variablesReference": 1}).Body.Variables {
			out[v.Name] = v.Value
		}
		return out
	}
	if m := memory(); m["account.balance"] != "" {
		t.Errorf("before any access: %v", m)
	}
	e.move("continue", map[string]any{"threadId": 1}) // a read
	e.move("continue", map[string]any{"threadId": 1}) // a read
	_, write := e.move("continue", map[string]any{"threadId": 1})
	if m := memory(); !strings.HasSuffix(write, "← "+m["account.balance"]) {
		t.Errorf("after %s: %v", write, m)
	}
	if got := ask[*dap.EvaluateResponse](e, "evaluate", map[string]any{"expression": "account.balance", "context": "hover"}); !strings.HasSuffix(write, "← "+got.Body.Result) {
		t.Errorf("after %s: %s", write, got.Body.Result)
	}
	e.move("reverseContinue", map[string]any{"threadId": 1})
	if m := memory(); m["account.balance"] != "100" {
		t.Errorf("back at the reads: %v", m)
	}

	// next stays in the thread, stepIn does not.
	threads := ask[*dap.ThreadsResponse](e, "threads", nil)
	if n := len(threads.Body.Threads); n != 3 {
		t.Errorf("%d threads", n)
	}
	if _, text := e.move("evaluate", map[string]any{"expression": "event 0", "context": "repl"}); !strings.HasPrefix(text, "event 0,") {
		t.Errorf("event 0 leads to %s", text)
	}
	if _, text := e.move("next", map[string]any{"threadId": 1}); !strings.Contains(text, "T0: create T2") {
		t.Errorf("next in T0 leads to %s", text)
	}
	if _, text := e.move("stepIn", map[string]any{"threadId": 1}); strings.Contains(text, " T0:") {
		t.Errorf("stepIn leads to %s", text)
	}
	if _, text := e.move("next", map[string]any{"threadId": 1}); !strings.Contains(text, "T0: join") {
		t.Errorf("next in T0 leads to %s", text)
	}

	// Data breakpoints.
	data := ask[*dap.DataBreakpointInfoResponse](e, "dataBreakpointInfo", map[string]any{"name": "account.balance"})
	if data.Body.DataId != "account.balance" {
		t.Errorf("%+v", data.Body)
	}
	ask[*dap.SetBreakpointsResponse](e, "setBreakpoints", map[string]any{"source": map[string]any{"path": source}, "breakpoints": []any{}})
	ask[*dap.SetDataBreakpointsResponse](e, "setDataBreakpoints", map[string]any{"breakpoints": []any{map[string]any{"dataId": "account.balance", "accessType": "write"}}})
	e.move("restart", nil)
	for range 2 {
		if reason, text := e.move("continue", map[string]any{"threadId": 1}); reason != "data breakpoint" || !strings.Contains(text, "write account.balance") {
			t.Errorf("%s at %s", reason, text)
		}
	}
	if reason, _ := e.move("continue", map[string]any{"threadId": 1}); reason != "exception" {
		t.Errorf("%s after the last write", reason)
	}

	// Functions, and events of a line.
	ask[*dap.SetDataBreakpointsResponse](e, "setDataBreakpoints", map[string]any{"breakpoints": []any{}})
	f := ask[*dap.SetFunctionBreakpointsResponse](e, "setFunctionBreakpoints", map[string]any{"breakpoints": []any{map[string]any{"name": "teller"}, map[string]any{"name": "nobody"}}})
	if got := f.Body.Breakpoints; !got[0].Verified || got[1].Verified {
		t.Errorf("function breakpoints: %+v", got)
	}
	e.move("restart", nil)
	for range 2 {
		if reason, text := e.move("continue", map[string]any{"threadId": 1}); reason != "function breakpoint" || !strings.Contains(text, "start teller") {
			t.Errorf("%s at %s", reason, text)
		}
	}
	targets := ask[*dap.GotoTargetsResponse](e, "gotoTargets", map[string]any{"source": map[string]any{"path": source}, "line": 21}).Body.Targets
	if len(targets) != 4 {
		t.Fatalf("targets: %+v", targets)
	}
	if reason, text := e.move("goto", map[string]any{"threadId": 1, "targetId": targets[2].Id}); reason != "goto" || text != targets[2].Label {
		t.Errorf("%s leads to %s", targets[2].Label, text)
	}

	ask[*dap.DisconnectResponse](e, "disconnect", nil)
	if _, ok := e.receive().(*dap.TerminatedEvent); !ok {
		t.Error("no terminated event")
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// What the trace does not show is gdb's to answer, at the same event.
func TestDAPEvaluates(t *testing.T) {
	t.Parallel()
	need.Tool(t, "gdb")
	dir, file := found(t, "lost_update.c")
	e, _ := startEditor(t, dir)
	ask[*dap.InitializeResponse](e, "initialize", map[string]any{"adapterID": "heddle"})
	e.receive()
	ask[*dap.LaunchResponse](e, "launch", map[string]any{"trace": file, "stopOnEntry": false})
	if reason, _ := e.move("configurationDone", nil); reason != "exception" {
		t.Errorf("%s without a stop on entry", reason)
	}
	evaluate := func(expression string) string {
		return ask[*dap.EvaluateResponse](e, "evaluate", map[string]any{"expression": expression, "context": "repl"}).Body.Result
	}
	e.move("evaluate", map[string]any{"expression": "event 0", "context": "repl"})
	if got := evaluate("account"); !strings.Contains(got, `"Ada", balance = 100}`) {
		t.Errorf("at the beginning, account is %s", got)
	}
	// At a plain access, gdb stands before the instruction, and the answer says so.
	written := false
	for n := 0; n < 30 && !written; n++ {
		_, text := e.move("evaluate", map[string]any{"expression": fmt.Sprint("event ", n), "context": "repl"})
		if !strings.Contains(text, ": write account.balance ← ") {
			continue
		}
		if got := evaluate("account"); !strings.Contains(got, "balance = 100}") || !strings.HasSuffix(got, fmt.Sprintf("(before the access of event %d takes effect)", n)) {
			t.Errorf("at %s, account is %s", text, got)
		}
		written = true
	}
	if !written {
		t.Error("no write of the balance among the first events")
	}
	if reason, _ := e.move("continue", map[string]any{"threadId": 1}); reason != "exception" {
		t.Errorf("%s at the end", reason)
	}
	if got := evaluate("account"); strings.Contains(got, "balance = 100}") {
		t.Errorf("at the end, account is %s", got)
	}
	if got := e.refused("evaluate", map[string]any{"expression": "no_such_thing", "context": "repl"}); !strings.Contains(got, `No symbol "no_such_thing"`) {
		t.Errorf("an unknown name: %s", got)
	}
	if got := e.refused("evaluate", map[string]any{"expression": "account\nquit", "context": "repl"}); got != "an expression is one line" {
		t.Errorf("two lines: %s", got)
	}
}

// Two clients, one after the other, over TCP; a deadlock shows the waits of all threads.
func TestDAPListens(t *testing.T) {
	t.Parallel()
	dir, file := found(t, "abba_deadlock.c")
	for _, address := range []string{"0.0.0.0:0", "here", "example.org:80"} {
		if out, err := heddleCommand(t, dir, nil, "dap", "--listen", address).CombinedOutput(); err == nil || !strings.Contains(string(out), "invalid --listen") {
			t.Errorf("--listen %s: %v, %s", address, err, out)
		}
	}
	cmd := heddleCommand(t, dir, nil, "dap", "--listen", "127.0.0.1:0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	address := strings.TrimSpace(strings.TrimPrefix(line, "listening on "))
	for range 2 {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		e := &editor{t: t, out: conn, in: bufio.NewReader(conn)}
		ask[*dap.InitializeResponse](e, "initialize", map[string]any{"adapterID": "heddle"})
		e.receive()
		ask[*dap.LaunchResponse](e, "launch", map[string]any{"trace": filepath.Join(dir, filepath.Base(file)), "stopOnEntry": false})
		if reason, text := e.move("configurationDone", nil); reason != "exception" || !strings.HasPrefix(text, "deadlock") {
			t.Errorf("%s at %s", reason, text)
		}
		waits := 0
		for _, th := range ask[*dap.ThreadsResponse](e, "threads", nil).Body.Threads {
			frames := ask[*dap.StackTraceResponse](e, "stackTrace", map[string]any{"threadId": th.Id}).Body.StackFrames
			if len(frames) == 0 {
				t.Errorf("%s has no frames", th.Name)
				continue
			}
			scopes := ask[*dap.ScopesResponse](e, "scopes", map[string]any{"frameId": frames[0].Id}).Body.Scopes
			for _, v := range ask[*dap.VariablesResponse](e, "variables", map[string]any{"variablesReference": scopes[0].VariablesReference}).Body.Variables {
				if v.Name == "waits" && strings.Contains(v.Value, "waits for") {
					waits++
				}
			}
			locks := ask[*dap.VariablesResponse](e, "variables", map[string]any{"variablesReference": scopes[2].VariablesReference}).Body.Variables
			if len(locks) != 2 || !strings.HasPrefix(locks[0].Value, "held by T") {
				t.Errorf("locks: %+v", locks)
			}
		}
		if waits != 3 {
			t.Errorf("%d threads wait", waits)
		}
		conn.Close()
	}
}
