// Package mcpserver offers heddle's commands to agents as tools of the Model Context Protocol
// (https://modelcontextprotocol.io, revision 2025-06-18).
//
// Each call of a tool runs heddle once, in a process of its own with --json: the structured content
// is what the command prints, calls have working directories of their own and do not share a limit on
// memory, and a call that is cancelled gets the interrupt that Ctrl-C sends.
package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Server runs heddle for the tools.
type Server struct {
	// Heddle is the path of heddle's executable, Name the name under which to start it, and Flags are
	// flags for each of its commands.
	Heddle, Name string
	Flags        []string
	// Version of heddle, for clients.
	Version string
	// Outputs are the schemas of the tools' structured content; see OutputSchemas.
	Outputs map[string]json.RawMessage

	running sync.WaitGroup // calls
}

// instructions is what the server tells an agent about itself.
const instructions = `heddle finds concurrency bugs by controlling the schedule of a program.
C and C++: build the program with "heddle cc" or "heddle c++" in place of the compiler (CC="heddle cc"), then call find. Go: call test with a package, or find with ["go", "run", …].
A finding comes with a trace file. show draws it; replay repeats exactly that execution, and with changed=true it follows the schedule in a program that was edited and rebuilt since, to check a fix.`

// Serve answers the requests read from in, on out, until in ends or ctx is cancelled. Calls that are
// in progress are then interrupted, and Serve returns once their processes have ended.
func (s *Server) Serve(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	ctx, cancel := context.WithCancel(ctx)
	server := mcp.NewServer(
		&mcp.Implementation{Name: "heddle", Title: "heddle", Version: s.Version},
		&mcp.ServerOptions{Instructions: instructions, Capabilities: &mcp.ServerCapabilities{}},
	)
	s.addTools(ctx, server)
	err := server.Run(ctx, &mcp.IOTransport{Reader: &input{in, cancel}, Writer: out})
	cancel()
	s.running.Wait()
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// input calls ended when there is nothing more to read: the session itself would wait for calls in
// progress.
type input struct {
	io.ReadCloser
	ended func()
}

func (in *input) Read(p []byte) (int, error) {
	n, err := in.ReadCloser.Read(p)
	if err != nil {
		in.ended()
	}
	return n, err
}

// addTools adds every tool. Calls also end with ctx.
func (s *Server) addTools(ctx context.Context, server *mcp.Server) {
	add(ctx, s, server, "find", "Find a concurrency bug in a program", findDescription, findTool)
	add(ctx, s, server, "test", "Find concurrency bugs in Go tests", testDescription, testTool)
	add(ctx, s, server, "replay", "Repeat a recorded execution", replayDescription, replayTool)
	add(ctx, s, server, "explain", "Say why a recorded execution fails", explainDescription, explainTool)
	add(ctx, s, server, "show", "Draw a trace", showDescription, showTool)
}

// request is one call of a tool: the command to run and how to present what it prints.
type request struct {
	dir     string
	command string
	args    []string // after the command and --json
	seconds float64  // time limit, for progress; 0 if unknown

	// structured returns the JSON for the client, from what the command printed.
	structured func(printed []byte) (json.RawMessage, error)
	// text describes the structured content. Draw runs heddle show on a trace.
	text func(structured json.RawMessage, draw func(trace string) string) string
}

// add adds one tool, whose arguments are an In.
func add[In any](ctx context.Context, s *Server, server *mcp.Server, name, title, description string, prepare func(In) (*request, error)) {
	tool := &mcp.Tool{
		Name: name, Title: title, Description: description,
		InputSchema: inputSchema[In](), OutputSchema: s.Outputs[name],
	}
	if name == "show" { // the others run a program, which may do anything
		tool.Annotations = &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: new(bool)}
	}
	mcp.AddTool(server, tool, func(call context.Context, r *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
		s.running.Add(1)
		defer s.running.Done()
		call, cancel := context.WithCancel(call)
		defer cancel()
		defer context.AfterFunc(ctx, cancel)()
		req, err := prepare(in)
		if err != nil {
			return nil, nil, err
		}
		return s.answer(call, r, req), nil, nil
	})
}

// answer runs a request. A failure of heddle is a tool error; what the command printed nevertheless,
// like the part of a search before an interruption, is its structured content.
func (s *Server) answer(ctx context.Context, r *mcp.CallToolRequest, req *request) *mcp.CallToolResult {
	printed, err := s.run(ctx, req, notifier(ctx, r, req.seconds))
	result := new(mcp.CallToolResult)
	var structured json.RawMessage
	if len(printed) > 0 {
		made, serr := req.structured(printed)
		switch {
		case serr == nil && len(made) > maxStructured:
			err = errors.Join(err, fmt.Errorf("the result has %.1f MB, more than the %d MB that a tool may return: run heddle %s --json in a shell", float64(len(made))/(1<<20), maxStructured>>20, req.command))
		case serr == nil:
			structured = made
			result.StructuredContent = made
		case err == nil:
			err = serr
		}
	}
	if err != nil {
		result.SetError(err)
		return result
	}
	draw := func(trace string) string {
		text, err := s.run(ctx, &request{dir: req.dir, command: "show", args: []string{"--width=120", traceWord(trace)}}, nil)
		if err != nil {
			return "" // the structured content does not need the drawing
		}
		return cut(string(text))
	}
	result.Content = []mcp.Content{&mcp.TextContent{Text: req.text(structured, draw)}}
	return result
}

// maxStructured bounds structured content, in bytes: clients read messages of 16 MB or less.
const maxStructured = 8 << 20
