package goprog

import "regexp"

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
