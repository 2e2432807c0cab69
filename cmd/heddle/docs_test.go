package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/report/beside"
	"github.com/heddle-dev/heddle/internal/result"
	"github.com/heddle-dev/heddle/internal/testing/runtimecache"
)

// The documentation's commands are checked: in every block that starts with ```sh, each
// heddle command and flag must exist, and each make target. A block that starts with
// ```sh run is executed, too, in a copy of the repository's top directory with heddle in
// PATH, the blocks of one file one after the other; with exit=N behind it, its last
// command ends with status N. A ```text block right after it is its output, in which "…"
// represents anything. A block with file=NAME is written to that file of the copy when its
// turn comes. Blocks with e2e instead of run need the network; make e2e executes them.

// block is a fenced block of a Markdown file.
type block struct {
	file string
	line int    // of the fence
	info string // what follows the fence's backquotes
	text string
	next *block // the block that follows with nothing but blank lines between
}

func (b block) String() string { return fmt.Sprintf("%s:%d", b.file, b.line) }

// blocks reads the fenced blocks of a Markdown text.
func blocks(file, text string) []*block {
	var (
		all   []*block
		open  *block
		fence string
		near  bool // only blank lines since the last block
	)
	for i, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimLeft(line, " ")
		switch {
		case open != nil && strings.HasPrefix(trimmed, fence) && strings.Trim(trimmed, "` ") == "":
			open, near = nil, true
		case open != nil:
			open.text += line + "\n"
		case strings.HasPrefix(trimmed, "```"):
			info := strings.TrimLeft(trimmed, "`")
			fence = trimmed[:len(trimmed)-len(info)]
			open = &block{file: file, line: i + 1, info: strings.TrimSpace(info)}
			if near {
				all[len(all)-1].next = open
			}
			all = append(all, open)
		case strings.TrimSpace(line) != "":
			near = false
		}
	}
	return all
}

// documented are the blocks of all documentation.
func documented(t *testing.T) []*block {
	t.Helper()
	root := repository(t)
	var files []string
	for _, pattern := range []string{"docs/*.md", "docs/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	for _, name := range []string{"README.md", "CONTRIBUTING.md"} {
		files = append(files, filepath.Join(root, name))
	}
	var all []*block
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name, _ := filepath.Rel(root, file)
		all = append(all, blocks(name, string(text))...)
	}
	return all
}

func isShell(b *block) bool { return b.info == "sh" || runs.MatchString(b.info) }

// runs matches what stands behind the fence of a block that is executed.
var runs = regexp.MustCompile(`^sh (run|e2e)(?: exit=(\d+))?$`)

// written matches what stands behind the fence of a block that is written to a file.
var written = regexp.MustCompile(`^\w+ file=(\S+)$`)

func TestDocumentedCommandsExist(t *testing.T) {
	t.Parallel()
	n := 0
	for _, b := range documented(t) {
		if !isShell(b) {
			if first, _, _ := strings.Cut(b.info, " "); first == "sh" || first == "bash" || first == "shell" || first == "console" {
				t.Errorf("%v: a block of shell commands starts with ```sh or ```sh run, not with ```%s", b, b.info)
			}
			continue
		}
		commands, err := shellCommands(b.text)
		if err != nil {
			t.Errorf("%v: %v", b, err)
		}
		for _, words := range commands {
			if err := checkCommand(repository(t), words); err != nil {
				t.Errorf("%v: %s: %v", b, strings.Join(words, " "), err)
			}
			n++
		}
	}
	if n == 0 {
		t.Error("no command is documented")
	}
}

// shellCommands are the simple commands of a script, as words, and the commands in the
// values of CC and CXX. What the shell would expand is left as it is written.
func shellCommands(script string) (commands [][]string, err error) {
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(script), "")
	if err != nil {
		return nil, err
	}
	syntax.Walk(f, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok {
			return true
		}
		var words []string
		for _, w := range call.Args {
			words = append(words, word(w))
		}
		if len(words) > 0 {
			commands = append(commands, words)
		}
		for _, a := range call.Assigns {
			if a.Value != nil && (a.Name.Value == "CC" || a.Name.Value == "CXX") {
				commands = append(commands, strings.Fields(word(a.Value)))
			}
		}
		for _, w := range words {
			for _, name := range []string{"CC=", "CXX="} {
				if value, ok := strings.CutPrefix(w, name); ok {
					commands = append(commands, strings.Fields(value))
				}
			}
		}
		return true
	})
	return commands, nil
}

// word is a word's text without quotes.
func word(w *syntax.Word) string {
	var b strings.Builder
	var parts func([]syntax.WordPart)
	parts = func(ps []syntax.WordPart) {
		for _, p := range ps {
			switch p := p.(type) {
			case *syntax.Lit:
				b.WriteString(p.Value)
			case *syntax.SglQuoted:
				b.WriteString(p.Value)
			case *syntax.DblQuoted:
				parts(p.Parts)
			default:
				syntax.NewPrinter().Print(&b, p)
			}
		}
	}
	parts(w.Parts)
	return b.String()
}

// checkCommand describes what is wrong with a documented command, if it is heddle or make.
func checkCommand(root string, words []string) error {
	switch name := filepath.Base(words[0]); name {
	case "heddle", "heddle-cc", "heddle-c++":
		return parseOnly(words)
	case "make":
		cmd := exec.Command("make", append([]string{"-n", "-C", root}, words[1:]...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%v\n%s", err, out)
		}
	}
	return nil
}

// parseOnly reads a command line with heddle's own parser.
func parseOnly(words []string) error {
	_, err := parseQuietly(words)
	return err
}

func TestDocumentedBlocksRun(t *testing.T) {
	t.Parallel()
	runDocumented(t, "run")
}

// runDocumented executes the blocks of all documentation that are marked with a word.
func runDocumented(t *testing.T, mark string) {
	t.Helper()
	heddle, err := exec.LookPath("heddle")
	if err != nil {
		t.Fatal(err)
	}
	cache, err := runtimecache.Dir()
	if err != nil {
		t.Fatal(err)
	}
	dirs := map[string]string{} // of each file
	for _, b := range documented(t) {
		m, file := runs.FindStringSubmatch(b.info), written.FindStringSubmatch(b.info)
		if file == nil && (m == nil || m[1] != mark) {
			continue
		}
		if dirs[b.file] == "" {
			dirs[b.file] = linkedCopy(t, repository(t))
		}
		if file != nil {
			writeBlock(t, filepath.Join(dirs[b.file], file[1]), b)
			continue
		}
		t.Run(b.String(), func(t *testing.T) {
			want := 0
			if m[2] != "" {
				want, _ = strconv.Atoi(m[2])
			}
			cmd := exec.Command("bash", "-euo", "pipefail", "-c", b.text)
			cmd.Dir = dirs[b.file]
			cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(heddle)+":"+os.Getenv("PATH"), "HEDDLE_CACHE="+cache)
			// Progress and notes, on the standard error, depend on what is in caches.
			var out, notes strings.Builder
			cmd.Stdout, cmd.Stderr = &out, &notes
			err := cmd.Run()
			if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != want {
				t.Fatalf("%v, want exit status %d\n%s%s", err, want, &out, &notes)
			}
			if b.next != nil && b.next.info == "text" && !matchesOutput(b.next.text, out.String()) {
				t.Errorf("the output is not what %v says:\n%s%s", b.next, &out, &notes)
			}
		})
	}
}

// writeBlock writes a block's text to a file, in a directory of its own if it names one.
func writeBlock(t *testing.T, file string, b *block) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatalf("%v: %v", b, err)
	}
	if err := os.WriteFile(file, []byte(b.text), 0o644); err != nil {
		t.Fatalf("%v: %v", b, err)
	}
}

// linkedCopy is a new directory with links to everything in another, so that what is
// written there stays there.
func linkedCopy(t *testing.T, dir string) string {
	t.Helper()
	linked := t.TempDir()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() == "bin" || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if err := os.Symlink(filepath.Join(dir, e.Name()), filepath.Join(linked, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return linked
}

// matchesOutput compares documented output with real output. An ellipsis represents any
// text within a line, and alone on a line for any lines.
func matchesOutput(documented, real string) bool {
	pattern := regexp.QuoteMeta("\n" + strings.TrimSpace(documented) + "\n")
	pattern = strings.ReplaceAll(pattern, "\n…\n", "\n(.*\n)*")
	pattern = strings.ReplaceAll(pattern, "…", ".*")
	return regexp.MustCompile("^" + pattern + "$").MatchString("\n" + strings.TrimSpace(real) + "\n")
}

// Every command that prints JSON has a section in docs/json.md, in which all of its fields
// are named.
func TestJSONIsDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(repository(t), "docs", "json.md"))
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]string{}
	for _, s := range strings.Split(string(text), "\n## ") {
		title, body, _ := strings.Cut(s, "\n")
		sections[title] = body
	}
	printed := map[string]any{
		"find": findJSON{},
		"test": struct {
			Test    testJSON    `json:"test"`
			Package packageJSON `json:"package"`
		}{},
		"races": struct {
			Races result.Races    `json:"races"`
			Sides result.RaceSide `json:"sides"`
		}{},
		"record": recordJSON{},
		"replay": struct {
			Replay replayJSON     `json:"outcome"`
			Report raceReportJSON `json:"reports"`
		}{},
		"atomicity": result.Atomicity{},
		"simplify":  simplifyJSON{},
		"check":     checkJSON{},
		"sanitize":  sanitizeJSON{},
		"explain":   report.Explanation{},
		"inject": struct {
			One     result.Injection  `json:"trace"`
			Several result.Injections `json:"campaign"`
		}{},
		"compare": struct {
			Two result.Deviations `json:"threads"`
			One beside.Comparison `json:"rows"`
		}{},
		"convert": convertJSON{},
		"bench":   benchJSON{},
		"show":    report.View{},
		"doctor":  diagnosis{},
		"version": versionInfo{},
		"man":     manJSON{},
	}
	// Parts that have a section or a table of their own.
	elsewhere := map[string]string{"atomicity": sections["heddle find"], "doctor": sections["heddle version"], "replay": sections["heddle find"], "races": sections["heddle find"], "record": sections["heddle find"], "test": sections["heddle find"]}
	var c commandLine
	parser, err := newParser(&c, io.Discard, io.Discard, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range parser.Model.Children {
		switch command.Name {
		case "cc", "c++", "help", "completion", "dap", "mcp", "view":
			continue // they print what compilers, people, shells and agents read
		}
		section, ok := sections["heddle "+command.Name]
		if !ok {
			t.Errorf("docs/json.md has no section heddle %s", command.Name)
			continue
		}
		value, ok := printed[command.Name]
		if !ok {
			t.Errorf("this test does not know what heddle %s prints", command.Name)
			continue
		}
		for _, field := range jsonFields(reflect.TypeOf(value), map[reflect.Type]bool{}) {
			named := regexp.MustCompile("`([a-z_A-Z\\[\\]]+\\.)*" + regexp.QuoteMeta(field) + "`")
			if !named.MatchString(section) && !named.MatchString(elsewhere[command.Name]) {
				t.Errorf("docs/json.md, heddle %s, does not name the field %s", command.Name, field)
			}
		}
	}
}

// jsonFields are the names of all fields of a type as JSON has them, and of its parts.
func jsonFields(t reflect.Type, seen map[reflect.Type]bool) (names []string) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || seen[t] {
		return nil
	}
	seen[t] = true
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if t.Field(i).Anonymous && name == "" {
			names = append(names, jsonFields(t.Field(i).Type, seen)...)
		}
		if name != "" && name != "-" {
			names = append(append(names, name), jsonFields(t.Field(i).Type, seen)...)
		}
	}
	return names
}

func TestBlocks(t *testing.T) {
	t.Parallel()
	got := blocks("x.md", "a\n```sh run\nls\n```\n\n```text\nout\n```\nb\n````text\n```\nin\n```\n````\n  ```sh\n  x\n  ```\n")
	want := []struct {
		line       int
		info, text string
		next       bool
	}{{2, "sh run", "ls\n", true}, {6, "text", "out\n", false}, {10, "text", "```\nin\n```\n", true}, {15, "sh", "  x\n", false}}
	if len(got) != len(want) {
		t.Fatalf("%d blocks", len(got))
	}
	for i, w := range want {
		if g := got[i]; g.line != w.line || g.info != w.info || g.text != w.text || (g.next != nil) != w.next {
			t.Errorf("block %d: %+v", i, g)
		}
	}
}

// The check itself must notice what is wrong.
func TestCheckCommand(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		"heddle version --json":                           "",
		"heddle doctor -- ./prog --any-flag":              "",
		"x=1 heddle cc -O2 --any-flag x.c && heddle -h":   "",
		"heddle-cc -c x.c | cat":                          "",
		"CC='heddle cc' ./configure":                      "",
		`./configure CC="bin/heddle cc" CXX="heddle c++"`: "",
		"heddle nosuch":                                   "unexpected argument nosuch",
		"true && heddle version --nosuch":                 "unknown flag --nosuch",
		"x=$(heddle nosuch)":                              "unexpected argument nosuch",
		"CC='heddle ccc' ./configure":                     "unexpected argument ccc",
		"./configure CXX='heddle cxx'":                    "unexpected argument cxx",
		"make no-such-target":                             "no-such-target",
	} {
		commands, err := shellCommands(script)
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, words := range commands {
			if err := checkCommand(repository(t), words); err != nil {
				found = append(found, err.Error())
			}
		}
		if got := strings.Join(found, "; "); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", script, got, want)
		}
	}
	if !matchesOutput("a…c\n…\nz\n", "abc\n1\n2\nz\n") || !matchesOutput("…\nb\n", "1\n2\nb\n") || matchesOutput("a…c\nz\n", "abc\ny\nz\n") || matchesOutput("a\n", "a\nb\n") {
		t.Error("documented output is compared wrongly")
	}
}

// parseQuietly reads a command line, the name included, and does nothing else.
func parseQuietly(args []string) (*commandLine, error) {
	c := new(commandLine)
	parser, err := newParser(c, io.Discard, io.Discard, func(int) { panic(errHelp) })
	if err != nil {
		return nil, err
	}
	defer func() {
		if r := recover(); r != nil && r != any(errHelp) {
			panic(r)
		}
	}()
	_, err = parser.Parse(goTestWords(parser.Model, commandWords(args)))
	return c, err
}

// errHelp is what parseQuietly meets in a command line that asks for help.
var errHelp = errors.New("help is asked for")
