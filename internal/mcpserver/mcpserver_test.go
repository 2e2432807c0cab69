package mcpserver

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/heddle-dev/heddle"
)

// Each argument becomes the flag that has its meaning; values cannot become flags.
func TestArguments(t *testing.T) {
	number, seconds, seed := 3, 1.5, uint64(1<<63)
	for _, c := range []struct {
		made func() (*request, error)
		want string // the words after the command, or the error
	}{
		{func() (*request, error) { return findTool(findArgs{Command: []string{"./p", "--all"}}) }, "--json -- ./p --all"},
		{func() (*request, error) {
			return findTool(findArgs{Command: []string{"p"}, Seconds: &seconds, Runs: &number, Seed: &seed, All: true, Races: "fail", Stdin: "in", Output: "-x", Ignore: []string{"a", "-b"}, Strategy: []string{"pct"}, NoSimplify: true})
		}, "--json --time=1.5s --runs=3 --seed=9223372036854775808 --races=fail --stdin=in --output=-x --ignore=a --ignore=-b --strategy=pct --all --no-simplify -- p"},
		{func() (*request, error) { return findTool(findArgs{}) }, "command is empty: name the program to run"},
		{func() (*request, error) { return testTool(testArgs{}) }, "--json"},
		{func() (*request, error) {
			return testTool(testArgs{Packages: []string{"./a", "./b"}, Run: "-X", Skip: "Y", Seconds: &seconds, Runs: &number, Races: "ignore", Short: true, Tags: "t", Args: []string{"-v"}})
		}, "--json --run=-X --skip=Y --timeout=1.5s --count=3 --races=ignore --tags=t --short ./a ./b -args -v"},
		{func() (*request, error) { return testTool(testArgs{Packages: []string{"--exec=x"}}) }, `"--exec=x" is not a package`},
		{func() (*request, error) {
			return replayTool(replayArgs{Trace: "-t.hdl", Times: &number, Changed: true})
		}, "--json --times=3 --changed ./-t.hdl"},
		{func() (*request, error) { return replayTool(replayArgs{}) }, "trace is empty: name a trace file"},
		{func() (*request, error) { return showTool(showArgs{Trace: "/a/t.hdl", Sources: []string{"-s"}}) }, "--json --sources=-s /a/t.hdl"},
	} {
		r, err := c.made()
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = strings.Join(r.args, " ")
		}
		if got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestTestLines(t *testing.T) {
	got, err := testLines([]byte(`{"package":"p","test":"A"}` + "\n" + `{"package":"p","test":""}` + "\n" + `{"package":"p","tests":2}` + "\n"))
	if want := `{"tests":[{"package":"p","test":"A"},{"package":"p","test":""}],"packages":[{"package":"p","tests":2}]}`; err != nil || string(got) != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
	if got, err := testLines(nil); err != nil || string(got) != `{"tests":[],"packages":[]}` {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := testLines([]byte(`{"package":`)); err == nil {
		t.Error("half a line is taken")
	}
}

// The error is heddle's last sentence; then notes and the output of other programs follow.
func TestFailure(t *testing.T) {
	exit := new(exec.ExitError)
	got := failure("heddle: compiling heddle's runtime\n./x.go:1: undefined: y\nheddle: note: a note\nheddle: cannot build\n", exit).Error()
	if want := "cannot build\n./x.go:1: undefined: y\nnote: a note"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := failure("", exit).Error(); !strings.HasPrefix(got, "heddle ended without a result: ") {
		t.Errorf("%q", got)
	}
}

func TestCut(t *testing.T) {
	short := strings.Repeat("a line\n", 10)
	if cut(short) != short {
		t.Error("a short text is cut")
	}
	long := strings.Repeat("a line of twenty b\n", 5000)
	got := cut(long)
	kept := strings.TrimSuffix(got, "… 3,276 more lines; the tool show has them as structured content\n")
	if len(got) > maxText+100 || kept == got || !strings.HasPrefix(long, kept) || !strings.HasSuffix(kept, "b\n") {
		t.Errorf("%d bytes, the end is %q", len(got), got[len(got)-100:])
	}
}

// A schema has the definitions that it refers to, and no others.
func TestOutputSchemas(t *testing.T) {
	schemas, err := OutputSchemas(heddle.JSONSchema())
	if err != nil {
		t.Fatal(err)
	}
	for tool, want := range map[string][]string{
		"replay": {"control", "differs", "neighbours", "raceReport", "replay", "result.Access", "result.Finding", "result.Why"},
	} {
		var s struct {
			Type string         `json:"type"`
			Defs map[string]any `json:"$defs"`
		}
		if err := json.Unmarshal(schemas[tool], &s); err != nil {
			t.Fatal(err)
		}
		wanted := map[string]any{}
		for _, name := range want {
			wanted[name] = s.Defs[name]
		}
		if s.Type != "object" || !reflect.DeepEqual(s.Defs, wanted) {
			t.Errorf("%s: %s, %v, want %v", tool, s.Type, s.Defs, want)
		}
	}
	if _, err := OutputSchemas([]byte(`{"$defs": {}}`)); err == nil {
		t.Error("a schema without the commands is taken")
	}
}

// What a heddle that goes wrong prints is an error of the tool, never a result.
func TestAnswer(t *testing.T) {
	for _, c := range []struct {
		name, script string
		want         string // the text's beginning
		failed       bool
	}{
		{"a result", `echo '{"same": true, "times": 2, "events": 3}'`, "replayed 2 times: 3 events, identical; no failure", false},
		{"a bug", `echo '{"same": true, "times": 1, "events": 3, "finding": {"kind": "deadlock", "message": "T1 and T2"}}'; exit 1`, "replayed 1 time: 3 events, identical; deadlock: T1 and T2", false},
		{"a difference", `echo '{"same": false}'; echo 'heddle: event 3 differs' >&2; exit 3`, "event 3 differs", true},
		{"a wrong command line", `echo 'heddle: unknown flag' >&2; exit 2`, "unknown flag", true},
		{"no JSON", `echo hello`, "heddle printed something that is not JSON: ", true},
		{"killed", `kill -KILL $$`, "heddle ended without a result: signal: killed", true},
		{"too much", `printf '"'; head -c 9000000 /dev/zero | tr '\0' x; printf '"'`, "the result has 8.6 MB, more than the 8 MB that a tool may return: run heddle replay --json in a shell", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			fake := filepath.Join(t.TempDir(), "heddle")
			if err := os.WriteFile(fake, []byte("#!/bin/sh\n"+c.script+"\n"), 0o777); err != nil {
				t.Fatal(err)
			}
			s := &Server{Heddle: fake, Name: fake}
			req, err := replayTool(replayArgs{Trace: "x.hdl"})
			if err != nil {
				t.Fatal(err)
			}
			r := s.answer(t.Context(), &mcp.CallToolRequest{Params: &mcp.CallToolParamsRaw{}}, req)
			text := r.Content[0].(*mcp.TextContent).Text
			if r.IsError != c.failed || !strings.HasPrefix(text, c.want) {
				t.Errorf("error %v, %q", r.IsError, text)
			}
			if has := r.StructuredContent != nil; has != strings.HasPrefix(c.script, "echo '{") {
				t.Errorf("structured content: %v", r.StructuredContent)
			}
		})
	}
	missing := &Server{Heddle: "/nonexistent/heddle", Name: "heddle"}
	req, _ := showTool(showArgs{Trace: "x.hdl"})
	if r := missing.answer(t.Context(), &mcp.CallToolRequest{Params: &mcp.CallToolParamsRaw{}}, req); !r.IsError || !strings.HasPrefix(r.Content[0].(*mcp.TextContent).Text, "cannot run heddle: ") {
		t.Errorf("%+v", r)
	}
}

// A cancelled call interrupts heddle, which can then write what it has, and does not kill it at once.
func TestCancelInterrupts(t *testing.T) {
	dir := t.TempDir()
	fake, ready, interrupted := filepath.Join(dir, "heddle"), filepath.Join(dir, "ready"), filepath.Join(dir, "interrupted")
	script := "#!/bin/sh\ntrap 'echo >" + interrupted + "; exit 3' INT\necho >" + ready + "\nwhile :; do sleep 0.02; done\n"
	if err := os.WriteFile(fake, []byte(script), 0o777); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(ready); err == nil {
				cancel()
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	s := &Server{Heddle: fake, Name: fake}
	if _, err := s.run(ctx, &request{command: "find"}, nil); err == nil || err.Error() != "cancelled" {
		t.Errorf("%v, want cancelled", err)
	}
	if _, err := os.Stat(interrupted); err != nil {
		t.Error("heddle was not interrupted")
	}
}
