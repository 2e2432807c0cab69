package goprog

import (
	"bytes"
	"regexp"
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

// lastRun is the output of the last execution in the process, which has ended. If it
// cannot be told from those before, it is all of it.
func lastRun(text []byte) (last []byte, told bool) {
	if at := runLine.FindAllIndex(text, -1); at != nil {
		return text[at[len(at)-1][1]:], true
	}
	return text, false
}

// during is the output of an execution, the first since the process was ready, after which
// the process goes on: what package testing reports when a test is over, and the beginning
// of the next, may be there by now or not, and are no part of it.
func during(text []byte) []byte {
	text = text[leading.FindIndex(text)[1]:]
	for _, next := range []*regexp.Regexp{reportLine, runLine} {
		if at := next.FindIndex(text); at != nil {
			text = text[:at[0]]
		}
	}
	return text
}

// goroutineLine is the first of the dump that follows a message.
var goroutineLine = regexp.MustCompile(`(?m)^(goroutine \d+ .*\[.*\]|runtime stack):$`)

// died finds the message in the last words of a program, and what it wrote up to and with
// them. The dump of goroutines is left out: it has numbers and addresses that no schedule
// decides, and the call stack is told elsewhere.
func died(text []byte, kind trace.Kind) (message string, before []byte) {
	prefix := []byte("panic: ")
	if kind == trace.Fatal {
		prefix = []byte("fatal error: ")
	}
	start := -1
	if bytes.HasPrefix(text, prefix) {
		start = 0
	}
	if i := bytes.LastIndex(text, append([]byte("\n"), prefix...)); i >= 0 {
		start = i + 1
	}
	if start < 0 {
		return "", text
	}
	before = text
	if at := goroutineLine.FindIndex(text[start:]); at != nil {
		before = append(bytes.TrimRight(text[:start+at[0]], "\n"), '\n')
	}
	line, _, _ := strings.Cut(string(text[start+len(prefix):]), "\n")
	return withoutRecovered(line), before
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
