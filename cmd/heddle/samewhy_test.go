package main

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-dap"

	"github.com/heddle-dev/heddle/internal/result"
)

// TestSameWhy: every output that shows a finding says the same sentence about it, with the same numbers of events.
func TestSameWhy(t *testing.T) {
	t.Parallel()
	t.Run("C", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		if out, err := heddleCommand(t, dir, nil, "cc", "-O1", "-g", "-pthread", filepath.Join(repository(t), "testdata/programs/fail/lost_update.c"), "-o", "prog").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		sameWhy(t, dir, "find", []string{"--races=ignore"}, []string{"--", "./prog"})
	})
	t.Run("Go", func(t *testing.T) {
		t.Parallel()
		dir := goModule(t, "fail/waitgroup_add_inside")
		sameWhy(t, dir, "test", []string{"--races=ignore"}, []string{"./fail/waitgroup_add_inside"})
	})
}

func sameWhy(t *testing.T, dir, command string, flags, what []string) {
	run := func(args ...string) string {
		out, _ := heddleCommand(t, dir, nil, args...).Output()
		return string(out)
	}
	search := func(more ...string) string {
		return run(append(append(append([]string{command}, flags...), more...), what...)...)
	}
	outputs := map[string]string{command: search("--junit", "junit.xml", "--sarif", "sarif.json")}
	outputs[command+" --json"] = search("--json")
	var found struct {
		result.Find
		Test string `json:"test"`
	}
	if err := json.NewDecoder(strings.NewReader(outputs[command+" --json"])).Decode(&found); err != nil || found.Finding == nil || found.Finding.Why == nil {
		t.Fatalf("%v: %s", err, outputs[command+" --json"])
	}
	file := found.Trace
	if found.Simplified != nil {
		file = found.Simplified.Trace
	}
	file = filepath.Join(dir, strings.TrimPrefix(file, dir))
	want := found.Finding.Why.Line
	if !regexp.MustCompile(`: .* \[events? \d+.*\]$`).MatchString(want) {
		t.Fatalf("the sentence is %q", want)
	}

	var annotated strings.Builder
	cmd := heddleCommand(t, dir, nil, append(append([]string{command, "--annotations=on"}, flags...), what...)...)
	cmd.Stderr = &annotated
	_ = cmd.Run() // it ends with 1
	outputs["--annotations"] = annotated.String()
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	var junit struct {
		Failures []string `xml:"testsuite>testcase>failure"`
	}
	if err := xml.Unmarshal([]byte(read("junit.xml")), &junit); err != nil {
		t.Fatal(err)
	}
	outputs["--junit"], outputs["--sarif"] = strings.Join(junit.Failures, "\n"), read("sarif.json")
	if at := fmt.Sprintf(`"text": "event %d: `, found.Finding.Why.Told[0]); !strings.Contains(outputs["--sarif"], at) {
		t.Errorf("--sarif has no related location with %s", at)
	}
	for _, as := range []string{"--markdown", "--quickfix", "--json"} {
		outputs["show "+as] = run("show", as, file)
	}
	outputs["show"], outputs["replay"], outputs["replay --json"] = run("show", file), run("replay", file), run("replay", "--json", file)
	outputs["explain --json"] = run("explain", "--json", file)
	outputs["compare"], outputs["compare --json"] = run("compare", file), run("compare", "--json", "--html", "compare.html", file)
	outputs["compare --html"] = read("compare.html")
	run("show", "--html", "show.html", file)
	run("explain", "--html", "explain.html", file)
	outputs["show --html"], outputs["explain --html"] = read("show.html"), read("explain.html")

	a := startAgent(t)
	a.dir = dir
	outputs["mcp"], _ = a.call("explain", map[string]any{"trace": file}, nil)
	outputs["mcp show"], _ = a.call("show", map[string]any{"trace": file}, nil)

	e, _ := startEditor(t, dir)
	ask[*dap.InitializeResponse](e, "initialize", map[string]any{"adapterID": "heddle"})
	e.receive()
	ask[*dap.LaunchResponse](e, "launch", map[string]any{"trace": file})
	e.move("configurationDone", nil)
	_, outputs["dap"] = e.move("continue", map[string]any{"threadId": 1})
	outputs["dap exception"] = ask[*dap.ExceptionInfoResponse](e, "exceptionInfo", map[string]any{"threadId": 1}).Body.Description

	x := onTerminal(t, heddleCommand(t, dir, nil, "view", file))
	x.press("G")
	x.shows("why: " + want[:50])
	x.press("q")
	_ = x.cmd.Wait()

	for name, out := range outputs {
		if !strings.Contains(plainText(out), plainText(want)) {
			t.Errorf("%s does not say %q:\n%s", name, want, out)
		}
	}
}

// plainText removes what JSON, HTML and drawings do to a sentence: escapes, and ends of lines where it is too long.
func plainText(s string) string {
	for _, r := range [][2]string{{`\u003c`, "<"}, {`\u003e`, ">"}, {`\u0026`, "&"}, {`\"`, `"`}} {
		s = strings.ReplaceAll(s, r[0], r[1])
	}
	return strings.Join(strings.Fields(html.UnescapeString(s)), " ")
}
