package goprog

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"

	"github.com/heddle-dev/heddle/trace"
)

// What package testing says before and after a test, as opposed to its subtests, whose
// names have a slash or whose lines are indented.
var (
	runLine    = regexp.MustCompile(`(?m)^=== RUN +[^/\n]+\n`)
	reportLine = regexp.MustCompile(`(?m)^--- (FAIL|PASS|SKIP): [^/\n]+\n`)
	leading    = regexp.MustCompile(`^(--- (PASS|SKIP): [^/\n]+\n)?(=== RUN +[^/\n]+\n)?`)
)

// lastRun is the output of the last execution in the process, which has ended, without the
// line that says how long it took. If it cannot be told from those before, it is all of it.
func lastRun(text []byte) (last []byte, told bool) {
	if at := runLine.FindAllIndex(text, -1); at != nil {
		text, told = text[at[len(at)-1][1]:], true
	}
	return reportLine.ReplaceAll(text, nil), told
}

// during is the output of an execution, the first since the process was ready, after which
// the process goes on: what package testing reports when a test is over, and the beginning
// of the next, may be there by now or not, and are not part of it.
func during(text []byte) []byte {
	text = text[leading.FindIndex(text)[1]:]
	for _, next := range []*regexp.Regexp{reportLine, runLine} {
		if at := next.FindIndex(text); at != nil {
			text = text[:at[0]]
		}
	}
	return text
}

// dumpLine is the first of the dump that follows a message.
var dumpLine = regexp.MustCompile(`(?m)^(goroutine \d+ .*\[.*\]|runtime stack):$`)

// died finds the message in the last words of a program, and what it wrote up to and with
// them. The dump of goroutines is left out: it has numbers and addresses that no schedule
// decides, and the call stack is told elsewhere.
func died(text []byte, kind trace.Kind) (message string, before []byte) {
	prefix := "panic: "
	if kind == trace.Fatal {
		prefix = "fatal error: "
	}
	start := lastLine(text, prefix)
	if start < 0 {
		return "", text
	}
	line, _, _ := strings.Cut(string(text[start+len(prefix):]), "\n")
	return withoutRecovered(line), withoutDump(text, start)
}

// lastLine is where the last line that begins with prefix does, -1 if none exists.
func lastLine(text []byte, prefix string) int {
	if i := bytes.LastIndex(text, []byte("\n"+prefix)); i >= 0 {
		return i + 1
	}
	if bytes.HasPrefix(text, []byte(prefix)) {
		return 0
	}
	return -1
}

// withoutDump is text up to the dump after the message at start.
func withoutDump(text []byte, start int) []byte {
	if at := dumpLine.FindIndex(text[start:]); at != nil {
		return append(bytes.TrimRight(text[:start+at[0]], "\n"), '\n')
	}
	return text
}

// words are what is worth telling of the output of a program that ended without a reason.
func words(text []byte) string {
	if start := max(lastLine(text, "panic: "), lastLine(text, "fatal error: ")); start >= 0 {
		text = withoutDump(text, start)
	}
	const most = 1 << 10
	return strings.TrimSpace(string(text[max(0, len(text)-most):]))
}

// withoutRecovered drops "[recovered]" and its like from the end of a panic's line: whether
// somebody looked at the panic before it went on says nothing about it.
func withoutRecovered(line string) string {
	for strings.HasSuffix(line, "]") {
		i := strings.LastIndex(line, " [")
		if i < 0 {
			break
		}
		switch line[i+2 : len(line)-1] {
		case "recovered", "recovered, repanicked":
			line = line[:i]
			continue
		}
		break
	}
	return line
}

var (
	runningLine = regexp.MustCompile(`(?m)^goroutine [1-9]\d* .*\[running\b.*\]:\n((?:.+\n)*)`)
	frameLines  = regexp.MustCompile(`(?m)^(\S.*)\n\t.* pc=0x([0-9a-f]+)$`)
)

// stuckAt is the call stack, innermost first, of the goroutine that ran when the program
// was made to dump them, without what it had called of Go's runtime.
func stuckAt(text []byte) (pcs []uint64) {
	for _, g := range runningLine.FindAllSubmatch(text, -1) {
		for _, f := range frameLines.FindAllSubmatch(g[1], -1) {
			pc, err := strconv.ParseUint(string(f[2]), 16, 64)
			if err == nil && (len(pcs) > 0 || !bytes.HasPrefix(f[1], []byte("runtime."))) {
				pcs = append(pcs, pc)
			}
		}
		if len(pcs) > 0 {
			break
		}
	}
	return pcs
}
