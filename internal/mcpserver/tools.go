package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// workingDir is the argument that all tools share.
type workingDir struct {
	Directory string `json:"directory,omitempty" jsonschema:"Working directory of the call, as an absolute path; relative paths in the other arguments start here. Default: the directory in which the server was started."`
}

// check returns the directory, which must exist.
func (d workingDir) check() (string, error) {
	if d.Directory == "" {
		return "", nil
	}
	if !filepath.IsAbs(d.Directory) {
		return "", fmt.Errorf("directory %q is not an absolute path", d.Directory)
	}
	info, err := os.Stat(d.Directory)
	if err != nil {
		return "", fmt.Errorf("cannot use the directory: %w", err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%s is not a directory", d.Directory)
	}
	return d.Directory, nil
}

// inputSchema is the schema of a tool's arguments.
func inputSchema[In any]() *jsonschema.Schema {
	s, err := jsonschema.For[In](nil)
	if err != nil {
		panic(err) // the types of this file are wrong: no user can cause it
	}
	for name, values := range map[string][]any{"races": {"report", "fail", "ignore"}} {
		if p := s.Properties[name]; p != nil {
			p.Enum = values
		}
	}
	for _, p := range s.Properties {
		if len(p.Types) == 2 { // the caller leaves an argument out, and null is none
			p.Type, p.Types = p.Types[1], nil
		}
		if p.Type == "integer" || p.Type == "number" {
			p.Minimum = new(float64)
		}
	}
	return s
}

// words collects a command line.
type words []string

func (w *words) flag(name string)         { *w = append(*w, "--"+name) }
func (w *words) value(name, value string) { *w = append(*w, "--"+name+"="+value) }

func (w *words) text(name, value string) {
	if value != "" {
		w.value(name, value)
	}
}

func (w *words) number(name string, value *int) {
	if value != nil {
		w.value(name, strconv.Itoa(*value))
	}
}

func (w *words) seconds(name string, value *float64) {
	if value != nil {
		w.value(name, strconv.FormatFloat(*value, 'f', -1, 64)+"s")
	}
}

func (w *words) seed(value *uint64) {
	if value != nil {
		w.value("seed", strconv.FormatUint(*value, 10))
	}
}

func (w *words) all(name string, values []string) {
	for _, v := range values {
		w.value(name, v)
	}
}

const findDescription = `Runs a program again and again under different schedules until one breaks it: a failed assertion, a crash, a deadlock, a hang, misuse of a lock or of memory, an exit status other than 0, or, if nothing worse is found, a data race. Writes a trace of the failure, simplifies it to the fewest context switches, and draws it. The program runs many times, so it should be a short test that ends and has no side effects outside of its directory. C and C++ programs must be built with "heddle cc" or "heddle c++".
outcome "clean" means that no explored schedule failed, not that none does; "ended" says why the search ended.`

type findArgs struct {
	workingDir
	Command    []string `json:"command" jsonschema:"The program to run and its arguments, one word each. No shell is involved."`
	Seconds    *float64 `json:"seconds,omitempty" jsonschema:"Time limit in seconds, simplification included; 0 for no limit. Default: 60."`
	Runs       *int     `json:"runs,omitempty" jsonschema:"Explore at most this many executions; 0 for no limit."`
	Seed       *uint64  `json:"seed,omitempty" jsonschema:"Choose other schedules. The same seed and build give the same first finding. Default: 1."`
	All        bool     `json:"all,omitempty" jsonschema:"Go on after a finding, and report every distinct one."`
	Races      string   `json:"races,omitempty" jsonschema:"Treat a data race as the finding if nothing worse is found (report, the default), as a failure that ends the search (fail), or only list it (ignore)."`
	Stdin      string   `json:"stdin,omitempty" jsonschema:"File that every execution reads as its standard input. Default: empty input."`
	Output     string   `json:"output,omitempty" jsonschema:"Write the trace to this file, replacing a trace of that name. Default: the first free one of PROGRAM.hdl, PROGRAM.2.hdl, … in the directory."`
	Ignore     []string `json:"ignore,omitempty" jsonschema:"Findings to pass over: keys of earlier findings, or trace files that show them."`
	Strategy   []string `json:"strategy,omitempty" jsonschema:"Use only these strategies, which take turns, such as random, pct and pos; or one of dpor and chess, which enumerate, or surw, alone. Default: a portfolio."`
	NoSimplify bool     `json:"no_simplify,omitempty" jsonschema:"Do not simplify the trace."`
}

func findTool(in findArgs) (*request, error) {
	dir, err := in.check()
	if err != nil {
		return nil, err
	}
	if len(in.Command) == 0 || in.Command[0] == "" {
		return nil, errors.New("command is empty: name the program to run")
	}
	if in.Stdin == "-" {
		return nil, errors.New("stdin is -, but heddle's standard input belongs to the protocol: name a file")
	}
	args := words{"--json"}
	args.seconds("time", in.Seconds)
	args.number("runs", in.Runs)
	args.seed(in.Seed)
	args.text("races", in.Races)
	args.text("stdin", in.Stdin)
	args.text("output", in.Output)
	args.all("ignore", in.Ignore)
	args.all("strategy", in.Strategy)
	if in.All {
		args.flag("all")
	}
	if in.NoSimplify {
		args.flag("no-simplify")
	}
	args = append(append(args, "--"), in.Command...)
	limit := 60.0
	if in.Seconds != nil {
		limit = *in.Seconds
	}
	return &request{dir: dir, command: "find", args: args, seconds: limit, structured: oneObject, text: findText}, nil
}

const testDescription = `Builds the tests of Go packages with heddle in Go's own runtime and explores the schedules of each test. Finds panics, data races, deadlocks and failed tests, and notes goroutines that are left behind. Keeps each finding as a trace in the package's _heddle directory, and tries the kept ones first the next time.`

type testArgs struct {
	workingDir
	Packages []string `json:"packages,omitempty" jsonschema:"Packages, as for go test. Default: the one in the directory."`
	Run      string   `json:"run,omitempty" jsonschema:"Explore only tests that match this regular expression."`
	Skip     string   `json:"skip,omitempty" jsonschema:"Leave out tests that match this regular expression."`
	Seconds  *float64 `json:"seconds,omitempty" jsonschema:"Time limit for each test in seconds, simplification included; 0 for no limit. Default: 10."`
	Runs     *int     `json:"runs,omitempty" jsonschema:"Explore at most this many executions of each test; 0 for no limit."`
	Seed     *uint64  `json:"seed,omitempty" jsonschema:"Choose other schedules. The same seed and build give the same first findings. Default: 1."`
	Races    string   `json:"races,omitempty" jsonschema:"Treat a data race as the finding if nothing worse is found (report), as a failure that ends the search (fail), or not at all (ignore)."`
	Short    bool     `json:"short,omitempty" jsonschema:"Tell tests to be short."`
	Tags     string   `json:"tags,omitempty" jsonschema:"Build tags, separated by commas."`
	Args     []string `json:"args,omitempty" jsonschema:"Arguments for the test binary."`
}

func testTool(in testArgs) (*request, error) {
	dir, err := in.check()
	if err != nil {
		return nil, err
	}
	args := words{"--json"}
	args.text("run", in.Run)
	args.text("skip", in.Skip)
	args.seconds("timeout", in.Seconds)
	args.number("count", in.Runs)
	args.seed(in.Seed)
	args.text("races", in.Races)
	args.text("tags", in.Tags)
	if in.Short {
		args.flag("short")
	}
	for _, p := range in.Packages {
		if p == "" || strings.HasPrefix(p, "-") {
			return nil, fmt.Errorf("%q is not a package", p)
		}
		args = append(args, p)
	}
	if len(in.Args) > 0 {
		args = append(append(args, "-args"), in.Args...)
	}
	return &request{dir: dir, command: "test", args: args, structured: testLines, text: testText}, nil
}

const replayDescription = `Runs the program of a trace again under the recorded schedule, and compares every event with the recorded ones: the same failure, every time. The trace names the program and its arguments. With changed, follows the schedule as far as it goes in a program that was rebuilt since, to see whether an edit removed the failure under that schedule; call find again to look for others. Runs only traces that were recorded by this user, unless the server was started with --trust.`

type replayArgs struct {
	workingDir
	Trace   string `json:"trace" jsonschema:"The trace file (.hdl)."`
	Times   *int   `json:"times,omitempty" jsonschema:"How many times to replay. Default: 1."`
	Changed bool   `json:"changed,omitempty" jsonschema:"The program was changed since: follow the schedule as far as it goes."`
}

func replayTool(in replayArgs) (*request, error) {
	var args words
	args.number("times", in.Times)
	if in.Changed {
		args.flag("changed")
	}
	return aboutTrace("replay", in.workingDir, in.Trace, args, replayText(in))
}

const explainDescription = `Says on which ordering of two events of different threads the failure in a trace depends, by executing the program with each pair of dependent events the other way round. Writes the trace of the nearest execution that does not fail. Best given a simplified trace. Runs only traces that were recorded by this user, unless the server was started with --trust.`

type explainArgs struct {
	workingDir
	Trace string `json:"trace" jsonschema:"The trace file (.hdl) of a failure."`
	Runs  *int   `json:"runs,omitempty" jsonschema:"Make at most this many executions. Default: 200."`
}

func explainTool(in explainArgs) (*request, error) {
	var args words
	args.number("runs", in.Runs)
	return aboutTrace("explain", in.workingDir, in.Trace, args, explainText)
}

// explainText is the line and the paragraph.
func explainText(printed json.RawMessage, _ func(string) string) string {
	var out struct{ Line, Text string }
	if json.Unmarshal(printed, &out) != nil {
		return ""
	}
	return strings.TrimPrefix(out.Line+"\n"+out.Text, "\n")
}

const showDescription = `Draws the execution in a trace: a column per thread, with source lines, and preemptions marked apart from switches away from threads that could not go on. Runs nothing. The structured content has every row, place and stack.`

type showArgs struct {
	workingDir
	Trace   string   `json:"trace" jsonschema:"The trace file (.hdl)."`
	Sources []string `json:"sources,omitempty" jsonschema:"More directories in which to look for source files."`
}

func showTool(in showArgs) (*request, error) {
	var args words
	args.all("sources", in.Sources)
	return aboutTrace("show", in.workingDir, in.Trace, args, func(_ json.RawMessage, draw func(string) string) string {
		return draw(in.Trace)
	})
}

// aboutTrace is the request for a command that takes a trace, after args, and prints one object.
func aboutTrace(command string, in workingDir, trace string, args words, text func(json.RawMessage, func(string) string) string) (*request, error) {
	dir, err := in.check()
	if err != nil {
		return nil, err
	}
	if trace == "" {
		return nil, errors.New("trace is empty: name a trace file")
	}
	args = append(append(words{"--json"}, args...), traceWord(trace))
	return &request{dir: dir, command: command, args: args, structured: oneObject, text: text}, nil
}

// traceWord is the name of a trace as an argument, which never looks like a flag.
func traceWord(name string) string {
	if strings.HasPrefix(name, "-") {
		return "." + string(filepath.Separator) + name
	}
	return name
}

// oneObject is the JSON of a command that prints one object.
func oneObject(printed []byte) (json.RawMessage, error) {
	var b bytes.Buffer
	if err := json.Compact(&b, printed); err != nil {
		return nil, fmt.Errorf("heddle printed something that is not JSON: %w", err)
	}
	return b.Bytes(), nil
}

// TestRun is the structured content of the tool test: the lines of heddle test --json.
type TestRun struct {
	Tests    []json.RawMessage `json:"tests"`
	Packages []json.RawMessage `json:"packages"`
}

func testLines(printed []byte) (json.RawMessage, error) {
	out := TestRun{Tests: []json.RawMessage{}, Packages: []json.RawMessage{}}
	for d := json.NewDecoder(bytes.NewReader(printed)); ; {
		var line json.RawMessage
		switch err := d.Decode(&line); {
		case err == io.EOF:
			return json.Marshal(out)
		case err != nil:
			return nil, fmt.Errorf("heddle printed something that is not JSON: %w", err)
		}
		var kind struct {
			Test *string `json:"test"`
		}
		if err := json.Unmarshal(line, &kind); err != nil {
			return nil, fmt.Errorf("heddle printed something that is not an object: %w", err)
		}
		if kind.Test != nil {
			out.Tests = append(out.Tests, line)
		} else {
			out.Packages = append(out.Packages, line)
		}
	}
}
