package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// agent is a client of heddle mcp, which runs as a process of its own.
type agent struct {
	*mcp.ClientSession
	t        *testing.T
	outputs  map[string]*jsonschema.Resolved // schemas of the tools' structured content
	server   *exec.Cmd
	input    io.Closer // of the server
	dir      string    // of the calls
	progress chan *mcp.ProgressNotificationParams
}

// startAgent starts heddle mcp in a directory other than the one that calls name.
func startAgent(t *testing.T, flags ...string) *agent {
	t.Helper()
	a := &agent{t: t, dir: t.TempDir(), outputs: map[string]*jsonschema.Resolved{}, progress: make(chan *mcp.ProgressNotificationParams, 1000)}
	client := mcp.NewClient(&mcp.Implementation{Name: "test"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			select {
			case a.progress <- r.Params:
			default:
			}
		},
	})
	a.server = heddleCommand(t, t.TempDir(), nil, append(flags, "mcp")...)
	a.server.Cancel = func() error { return nil } // closing the session ends it
	a.server.Stderr = os.Stderr
	in, err := a.server.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := a.server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := a.server.Start(); err != nil {
		t.Fatal(err)
	}
	a.input = in
	t.Cleanup(func() { a.end() })
	if a.ClientSession, err = client.Connect(t.Context(), &mcp.IOTransport{Reader: out, Writer: in}, nil); err != nil {
		t.Fatal(err)
	}
	tools, err := a.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools.Tools {
		b, err := json.Marshal(tool.OutputSchema)
		if err != nil {
			t.Fatal(err)
		}
		var s jsonschema.Schema
		if err := json.Unmarshal(b, &s); err != nil {
			t.Fatal(err)
		}
		if s.Type != "object" {
			t.Errorf("%s: structured content is an object, but the schema has type %q", tool.Name, s.Type)
		}
		if a.outputs[tool.Name], err = s.Resolve(nil); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

// end closes the server's input and waits for its end.
func (a *agent) end() error {
	a.input.Close()
	kill := time.AfterFunc(time.Minute, func() { _ = a.server.Process.Kill() })
	defer kill.Stop()
	return a.server.Wait()
}

// build compiles a program of testdata/programs.
func (a *agent) build(source, name string) {
	a.t.Helper()
	cmd := heddleCommand(a.t, a.dir, nil, "cc", "-O1", "-g", filepath.Join(repository(a.t), "testdata/programs", source), "-o", name)
	if out, err := cmd.CombinedOutput(); err != nil {
		a.t.Fatalf("%v\n%s", err, out)
	}
}

// call calls a tool, and decodes its structured content.
func (a *agent) call(name string, args map[string]any, into any) (text string, failed bool) {
	a.t.Helper()
	args["directory"] = a.dir
	r, err := a.CallTool(a.t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		a.t.Fatalf("%s: %v", name, err)
	}
	for _, c := range r.Content {
		text += c.(*mcp.TextContent).Text
	}
	if r.StructuredContent == nil {
		if into != nil {
			a.t.Fatalf("%s: no structured content; %s", name, text)
		}
		return text, r.IsError
	}
	b, err := json.Marshal(r.StructuredContent)
	if err != nil {
		a.t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		a.t.Fatal(err)
	}
	if err := a.outputs[name].Validate(v); err != nil {
		a.t.Errorf("%s: the structured content is not as the tool's schema has it: %v", name, err)
	}
	if into != nil {
		if err := json.Unmarshal(b, into); err != nil {
			a.t.Fatalf("%s: %v in %s", name, err, b)
		}
	}
	return text, r.IsError
}

// An agent finds a bug, draws it, repeats it, and checks a fix.
func TestMCP(t *testing.T) {
	t.Parallel()
	a := startAgent(t)

	tools, err := a.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range tools.Tools {
		names = append(names, tool.Name)
		schema, _ := tool.InputSchema.(map[string]any)
		properties, _ := schema["properties"].(map[string]any)
		if tool.Description == "" || len(properties) < 2 {
			t.Errorf("%s has no description, or not the arguments it needs: %v", tool.Name, schema)
		}
		for name, p := range properties {
			if p, _ := p.(map[string]any); p["description"] == nil || p["type"] == nil {
				t.Errorf("%s: %s has no description or type: %v", tool.Name, name, p)
			}
		}
	}
	slices.Sort(names)
	if want := []string{"explain", "find", "replay", "show", "test"}; !slices.Equal(names, want) {
		t.Fatalf("tools: %v, want %v", names, want)
	}

	a.build("fail/lost_update.c", "prog")
	var found struct {
		Outcome    string
		Seed       uint64
		Finding    struct{ Kind, Message string }
		Trace      string
		Simplified struct{ Trace string }
	}
	text, failed := a.call("find", map[string]any{"command": []string{"./prog"}, "seconds": 30, "seed": 7}, &found)
	if failed || found.Outcome != "found" || found.Finding.Kind != "assertion" || found.Seed != 7 {
		t.Fatalf("find: %+v, %s", found, text)
	}
	// The text has the failure and its drawing.
	for _, want := range []string{"account.balance == 160", "prog.min.hdl", "lost_update.c:"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text of find lacks %q:\n%s", want, text)
		}
	}
	if _, err := os.Stat(filepath.Join(a.dir, found.Simplified.Trace)); err != nil {
		t.Errorf("the trace is not in the directory of the call: %v", err)
	}

	var shown struct {
		Columns []struct{ Name string }
		Rows    []json.RawMessage
		Failure struct{ Title string }
	}
	text, failed = a.call("show", map[string]any{"trace": found.Simplified.Trace}, &shown)
	if failed || len(shown.Columns) < 2 || len(shown.Rows) == 0 || !strings.Contains(text, "lost_update.c:") {
		t.Errorf("show: %+v, %s", shown, text)
	}

	var why struct{ Text, Passing string }
	text, failed = a.call("explain", map[string]any{"trace": found.Simplified.Trace}, &why)
	if failed || !strings.Contains(text, why.Text) || !strings.HasPrefix(why.Text, "The execution fails because ") || why.Passing == "" {
		t.Errorf("explain: %+v, %s", why, text)
	}

	var again struct {
		Outcome string
		Same    bool
		Times   int
	}
	text, failed = a.call("replay", map[string]any{"trace": found.Simplified.Trace, "times": 3}, &again)
	if failed || again.Outcome != "found" || !again.Same || again.Times != 3 || !strings.Contains(text, "identical; assertion") {
		t.Errorf("replay: %+v, %s", again, text)
	}

	// The correct twin in its place: another execution for replay, and clean for changed and for find.
	a.build("pass/lost_update.c", "prog")
	if text, failed = a.call("replay", map[string]any{"trace": found.Simplified.Trace}, nil); !failed {
		t.Errorf("replay in another build: %s", text)
	}
	text, failed = a.call("replay", map[string]any{"trace": found.Simplified.Trace, "changed": true}, &again)
	if failed || again.Outcome != "clean" || !strings.Contains(text, "no failure") {
		t.Errorf("replay of the fixed program: %+v, %s", again, text)
	}
	found.Outcome = ""
	text, failed = a.call("find", map[string]any{"command": []string{"./prog"}, "runs": 200}, &found)
	if failed || found.Outcome != "clean" || !strings.HasPrefix(text, "no failure in ") {
		t.Errorf("find in the correct twin: %+v, %s", found, text)
	}
}

// A call that cannot be carried out is an error of the tool, in one sentence that says why.
func TestMCPErrors(t *testing.T) {
	t.Parallel()
	a := startAgent(t)
	if err := os.WriteFile(filepath.Join(a.dir, "bad.hdl"), []byte("not a trace"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tool string
		args map[string]any
		want string // in the text
	}{
		{"find", map[string]any{"command": []string{"./missing"}}, "./missing"},
		{"find", map[string]any{"command": []string{}}, "command is empty"},
		{"find", map[string]any{}, "command"},
		{"find", map[string]any{"command": []string{"true"}, "runs": -1}, "runs"},
		{"find", map[string]any{"command": []string{"true"}, "races": "maybe"}, "races"},
		{"find", map[string]any{"command": []string{"true"}, "shell": "rm"}, "shell"},
		{"find", map[string]any{"command": []string{"true"}, "stdin": "-"}, "name a file"},
		{"test", map[string]any{"packages": []string{"-exec=true"}}, `"-exec=true" is not a package`},
		{"replay", map[string]any{"trace": "none.hdl"}, "none.hdl"},
		{"replay", map[string]any{"trace": "--gdb"}, "./--gdb"}, // a file, not a flag
		{"show", map[string]any{"trace": "bad.hdl"}, "bad.hdl"},
	} {
		text, failed := a.call(c.tool, c.args, nil)
		if !failed || !strings.Contains(text, c.want) || strings.Contains(text, "heddle: ") || strings.Count(text, "\n") > 1 {
			t.Errorf("%s %v: error %v, %q; want %q", c.tool, c.args, failed, text, c.want)
		}
	}
	for dir, want := range map[string]string{"src": "not an absolute path", "/nonexistent": "cannot use the directory", filepath.Join(a.dir, "bad.hdl"): "is not a directory"} {
		r, err := a.CallTool(t.Context(), &mcp.CallToolParams{Name: "show", Arguments: map[string]any{"trace": "x.hdl", "directory": dir}})
		if err != nil || !r.IsError || !strings.Contains(r.Content[0].(*mcp.TextContent).Text, want) {
			t.Errorf("directory %s: %v, %+v", dir, err, r)
		}
	}
}

// Without --trust, the server runs only the programs of the user's own traces, as heddle replay does.
func TestMCPTrust(t *testing.T) {
	t.Parallel()
	a := startAgent(t)
	a.build("fail/lost_update.c", "prog")
	if text, failed := a.call("find", map[string]any{"command": []string{"./prog"}, "output": "x.hdl", "no_simplify": true}, nil); failed {
		t.Fatal(text)
	}
	other := startAgent(t, "--cache", "elsewhere") // relative to the server's directory, and another user's as far as heddle knows
	other.dir = a.dir
	text, failed := other.call("replay", map[string]any{"trace": "x.hdl"}, nil)
	if !failed || !strings.Contains(text, "--trust") {
		t.Errorf("replay of another user's trace: error %v, %s", failed, text)
	}
	if _, err := os.Stat(filepath.Join(a.dir, "elsewhere")); err == nil {
		t.Error("the server's relative --cache is in the directory of the call")
	}
	if text, failed = other.call("show", map[string]any{"trace": "x.hdl"}, nil); failed || !strings.Contains(text, "lost_update.c:") {
		t.Errorf("show of another user's trace: %s", text)
	}
	trusting := startAgent(t, "--trust")
	trusting.dir = a.dir
	if text, failed = trusting.call("replay", map[string]any{"trace": "x.hdl"}, nil); failed || !strings.Contains(text, "identical") {
		t.Errorf("replay with --trust: %s", text)
	}
}

// children counts the processes of heddle that a server has started and that still run.
func children(t *testing.T, server *exec.Cmd) (n int) {
	t.Helper()
	tasks, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(server.Process.Pid), "task/*/children"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range tasks {
		b, _ := os.ReadFile(name)
		n += len(strings.Fields(string(b)))
	}
	return n
}

// A search without a limit sends progress, and cancelling the call ends its process; the server goes
// on. Closing the server's input ends it and the calls in progress.
func TestMCPCancel(t *testing.T) {
	t.Parallel()
	a := startAgent(t)
	a.build("pass/lost_update.c", "good")
	search := func(ctx context.Context) chan error {
		ended := make(chan error, 1)
		params := &mcp.CallToolParams{Name: "find", Arguments: map[string]any{"directory": a.dir, "command": []string{"./good"}, "seconds": 0, "strategy": []string{"random", "pct"}}}
		params.SetProgressToken("search")
		go func() {
			_, err := a.CallTool(ctx, params)
			ended <- err
		}()
		return ended
	}
	within := func(what string, done func() bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); !done(); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s: not within a minute", what)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := search(ctx)
	last := -1.0
	for n := 0; n < 3; n++ {
		select {
		case p := <-a.progress:
			if p.ProgressToken != "search" || p.Progress <= last || !strings.Contains(p.Message, "execution") {
				t.Errorf("progress after %v: %+v", last, p)
			}
			last = p.Progress
		case <-time.After(time.Minute):
			t.Fatal("no progress")
		}
	}
	if children(t, a.server) == 0 {
		t.Error("the search is not a process")
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the cancelled call: %v", err)
	}
	within("the end of the cancelled search", func() bool { return children(t, a.server) == 0 })
	if _, err := a.ListTools(t.Context(), nil); err != nil {
		t.Errorf("after a cancelled call: %v", err)
	}

	ended = search(t.Context())
	within("the beginning of a search", func() bool { return children(t, a.server) > 0 })
	if err := a.end(); err != nil { // the search has no limit of its own
		t.Errorf("the server ended with %v", err)
	}
	<-ended
}

// heddle mcp prints nothing but the protocol, and ends with its input.
func TestMCPWithoutRequests(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("heddle", "mcp")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(in, ""); err != nil {
		t.Fatal(err)
	}
	in.Close()
	if err := cmd.Wait(); err != nil || out.Len() > 0 {
		t.Errorf("%v, %q", err, out.String())
	}
}

// The tool test explores the tests of a package, and keeps what it finds beside the package.
func TestMCPGoTest(t *testing.T) {
	t.Parallel()
	a := startAgent(t)
	for name, text := range map[string]string{
		"go.mod": "module example.com/p\n\ngo 1.25\n",
		"p_test.go": `package p

import (
	"sync"
	"testing"
)

// Both goroutines may read n before either writes it.
func TestLost(t *testing.T) {
	var n int
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			mu.Lock()
			was := n
			mu.Unlock()
			mu.Lock()
			n = was + 1
			mu.Unlock()
		})
	}
	wg.Wait()
	if n != 2 {
		t.Fatalf("n = %d", n)
	}
}

func TestKept(t *testing.T) {
	var n int
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			mu.Lock()
			n++
			mu.Unlock()
		})
	}
	wg.Wait()
	if n != 2 {
		t.Fatalf("n = %d", n)
	}
}
`,
	} {
		if err := os.WriteFile(filepath.Join(a.dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var r struct {
		Tests []struct {
			Test, Outcome, Trace string
		}
		Packages []struct {
			Package, Outcome string
			Found            int
		}
	}
	text, failed := a.call("test", map[string]any{"packages": []string{"."}, "run": "TestLost|TestKept", "seconds": 30}, &r)
	if failed || len(r.Tests) != 2 || r.Tests[0].Outcome != "found" || r.Tests[1].Outcome != "clean" ||
		len(r.Packages) != 1 || r.Packages[0].Found != 1 || !strings.Contains(text, "n = 1") {
		t.Fatalf("test: %+v, %s", r, text)
	}
	if _, err := os.Stat(filepath.Join(a.dir, r.Tests[0].Trace)); err != nil {
		t.Errorf("the trace is not in the package: %v", err)
	}
	text, failed = a.call("test", map[string]any{"packages": []string{"./none"}}, nil)
	if !failed || !strings.Contains(text, "none") {
		t.Errorf("a package that does not exist: error %v, %s", failed, text)
	}
}
