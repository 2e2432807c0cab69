// Package godump reads what Go's runtime writes when a program dies: a message, and the stacks of its goroutines. With
// GOTRACEBACK=all, and on SIGQUIT, it writes all of them.
package godump

import (
	"bytes"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// The prefixes of the line with the message.
const (
	Panic = "panic: "
	Fatal = "fatal error: "
)

var (
	// dumpLine is the first line of the dump that follows a message.
	dumpLine    = regexp.MustCompile(`(?m)^(goroutine \d+ .*\[.*\]|runtime stack):$`)
	runningLine = regexp.MustCompile(`(?m)^goroutine [1-9]\d* .*\[running\b.*\]:\n((?:.+\n)*)`)
	anyLine     = regexp.MustCompile(`(?m)^goroutine ([1-9]\d*) .*?\[([^\]\n]*)\]:\n((?:.+\n)*)`)
	frameLines  = regexp.MustCompile(`(?m)^(\S.*)\n\t.* pc=0x([0-9a-f]+)$`)
	placeLines  = regexp.MustCompile(`(?m)^(created by )?(\S.*)\n\t(.+\.(?:go|s)):(\d+)`)
)

// Message returns the message in the last line of a program's output that begins with prefix, and the output up to and
// including it. The dump of goroutines is dropped: it has numbers and addresses that do not depend on the schedule.
func Message(text []byte, prefix string) (message string, before []byte) {
	start := lastLine(text, prefix)
	if start < 0 {
		return "", text
	}
	line, _, _ := strings.Cut(string(text[start+len(prefix):]), "\n")
	return withoutRecovered(line), withoutDump(text, start)
}

// Words returns what a user should see of the output of a program that ended without a reason, at most 1 KiB.
func Words(text []byte) string {
	if start := max(lastLine(text, Panic), lastLine(text, Fatal)); start >= 0 {
		text = withoutDump(text, start)
	}
	const most = 1 << 10
	return strings.TrimSpace(string(text[max(0, len(text)-most):]))
}

// Running returns the call stack, innermost first, of the goroutine that was running when the
// program was made to dump them, without frames of Go's runtime.
func Running(text []byte) (pcs []uint64) {
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

// Positions says in a line each what the goroutines do that the program's own code has started or called, and where that code
// is: "goroutine 7: chan receive at pkg.f file.go:12". The goroutine of a test comes first, whichever one was running.
func Positions(text []byte) (lines []string) {
	var tests []string
	library := ""
	for _, f := range placeLines.FindAllSubmatch(text, -1) {
		if file, ok := strings.CutSuffix(string(f[3]), "/src/runtime/proc.go"); ok && bytes.HasPrefix(f[2], []byte("runtime.")) {
			library = file + "/src/"
			break
		}
	}
	for _, g := range anyLine.FindAllSubmatch(text, -1) {
		for _, f := range placeLines.FindAllSubmatch(g[3], -1) {
			file := string(f[3])
			if library != "" && strings.HasPrefix(file, library) || path.Base(file) == "_testmain.go" || len(f[1]) > 0 {
				continue
			}
			line := "goroutine " + string(g[1]) + ": " + string(g[2]) + " at " + function(string(f[2])) + " " + path.Base(file) + ":" + string(f[4])
			if bytes.Contains(g[3], []byte("\ntesting.tRunner(")) {
				tests = append(tests, line)
			} else {
				lines = append(lines, line)
			}
			break
		}
	}
	return append(tests, lines...)
}

// function returns the name in a line of a stack, without arguments.
func function(line string) string {
	if strings.HasSuffix(line, ")") {
		if i := strings.LastIndexByte(line, '('); i > 0 {
			return line[:i]
		}
	}
	return line
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
