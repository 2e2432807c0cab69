package goprog

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"

	"github.com/heddle-dev/heddle/trace"
)

// What package testing writes before and after a test. The names of its subtests have a slash, or
// their lines are indented.
var (
	runLine    = regexp.MustCompile(`(?m)^=== RUN +[^/\n]+\n`)
	reportLine = regexp.MustCompile(`(?m)^--- (FAIL|PASS|SKIP): [^/\n]+\n`)
	leading    = regexp.MustCompile(`^(--- (PASS|SKIP): [^/\n]+\n)?(=== RUN +[^/\n]+\n)?`)
)

// lastRun returns the output of the last execution in a process that has ended, without the line
// with its duration. If the output before it cannot be separated, told is false and last is all of
// the output.
func lastRun(text []byte) (last []byte, told bool) {
	if at := runLine.FindAllIndex(text, -1); at != nil {
		text, told = text[at[len(at)-1][1]:], true
	}
	return reportLine.ReplaceAll(text, nil), told
}

// during returns the output of an execution, the first since the process was ready, after which the
// process continues. The line with its duration is removed, and what package testing writes at the
// start of the next test, which may or may not be there yet.
func during(text []byte) []byte {
	text = text[leading.FindIndex(text)[1]:]
	if at := runLine.FindIndex(text); at != nil {
		text = text[:at[0]]
	}
	return reportLine.ReplaceAll(text, nil)
}

// dumpLine is the first line of the dump that follows a message.
var dumpLine = regexp.MustCompile(`(?m)^(goroutine \d+ .*\[.*\]|runtime stack):$`)

// died returns the message at the end of a program's output, and the output up to and including it.
// The dump of goroutines is dropped: it has numbers and addresses that do not depend on the
// schedule, and the call stack is reported elsewhere.
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

// lastLine returns the offset of the last line that begins with prefix, -1 if none does.
func lastLine(text []byte, prefix string) int {
	if i := bytes.LastIndex(text, []byte("\n"+prefix)); i >= 0 {
		return i + 1
	}
	if bytes.HasPrefix(text, []byte(prefix)) {
		return 0
	}
	return -1
}

// withoutDump returns text up to the dump after the message at start.
func withoutDump(text []byte, start int) []byte {
	if at := dumpLine.FindIndex(text[start:]); at != nil {
		return append(bytes.TrimRight(text[:start+at[0]], "\n"), '\n')
	}
	return text
}

// words returns what a user should see of the output of a program that ended without a reason.
func words(text []byte) string {
	if start := max(lastLine(text, "panic: "), lastLine(text, "fatal error: ")); start >= 0 {
		text = withoutDump(text, start)
	}
	const most = 1 << 10
	return strings.TrimSpace(string(text[max(0, len(text)-most):]))
}

// withoutRecovered drops "[recovered]" and the like from the end of a panic's line: whether code
// recovered the panic and panicked again is not part of its identity.
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

// stuckAt returns the call stack, innermost first, of the goroutine that was running when the
// program was made to dump them, without frames of Go's runtime.
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
