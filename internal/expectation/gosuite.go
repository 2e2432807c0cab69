package expectation

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strings"
)

// The forms in which frameworks for Go that run a suite in one test report a failure. They write it and then make the test fail
// without a message.
var (
	// gocheck: `FAIL: sum_test.go:12: Suite.TestSum`, an empty line, and parts that begin with a place and have the code, then
	// what was met in lines that begin with `... `.
	checkFailed = regexp.MustCompile(`^(FAIL|PANIC): \S+\.go:\d+: \S+$`)
	checkPlace  = regexp.MustCompile(`^(\S+\.go):(\d+):$`)
	checkPanic  = regexp.MustCompile(`^Panic: (.*?)(?: \(PC=0x[0-9A-Fa-f]+\))?$`)

	// Ginkgo 2: `[FAILED] message`, more lines, and `In [It] at: sum_test.go:12 @ time`. What panicked follows that.
	ginkgoFailed = regexp.MustCompile(`^\[(FAILED|PANICKED)\] (.*)$`)
	ginkgoPlace  = regexp.MustCompile(`^In \[\w+\] at: (.+\.go):(\d+)(?: @ .*)?$`)

	// Ginkgo 1: a line that begins so, the spec with the places of its parts, an empty line, the message, and a place.
	ginkgo1Failed = regexp.MustCompile(`^•!? (Failure|Panic)\b.* \[[\d.]+ seconds\]$`)
	ginkgo1Place  = regexp.MustCompile(`^(/.+\.go):(\d+)$`)
)

// Suite returns the first failure that a framework for Go has written, with its place, in one line: what Headline makes of it is
// the same. It is empty if the output has none.
func Suite(output []byte) string {
	lines := strings.Split(string(colours.ReplaceAll(bytes.ToValidUTF8(output, []byte("?")), nil)), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \r")
	}
	for i, l := range lines {
		var said, file, line string
		if m := checkFailed.FindStringSubmatch(l); m != nil {
			said, file, line = gocheck(lines[i+1:])
		} else if m := ginkgoFailed.FindStringSubmatch(strings.TrimSpace(l)); m != nil {
			said, file, line = ginkgo(lines[i:], m[1] == "PANICKED")
		} else if m := ginkgo1Failed.FindStringSubmatch(l); m != nil {
			said, file, line = ginkgo1(lines[i+1:], m[1] == "Panic")
		}
		if said = strings.TrimSpace(said); said != "" {
			if said = cut(said); file != "" {
				said += " at " + filepath.Base(file) + ":" + line
			}
			return said
		}
	}
	return ""
}

func gocheck(lines []string) (said, file, line string) {
	var code, met []string
	for _, l := range lines {
		m := checkPlace.FindStringSubmatch(l)
		switch {
		case m != nil && file != "", strings.HasPrefix(l, "-----"), strings.HasPrefix(l, "OOPS: "):
			lines = nil
		case m != nil:
			file, line = m[1], m[2]
		case strings.HasPrefix(l, "... "):
			l = strings.TrimPrefix(l, "... ")
			if m := checkPanic.FindStringSubmatch(l); m != nil {
				return "panic: " + m[1], file, line
			}
			if text, ok := strings.CutPrefix(l, "Error: "); ok {
				code, l = nil, text
			}
			met = append(met, l)
		case file != "" && len(met) == 0 && strings.HasPrefix(l, "    "):
			code = append(code, strings.TrimSpace(l))
		}
		if lines == nil {
			break
		}
	}
	said = strings.Join(met, ", ")
	if len(code) == 1 && len(met) > 0 {
		said = code[0] + ": " + said
	}
	return said, file, line
}

func ginkgo(lines []string, panicked bool) (said, file, line string) {
	var words []string
	for i, l := range lines {
		l = strings.TrimSpace(l)
		if m := ginkgoPlace.FindStringSubmatch(l); m != nil {
			if file, line = m[1], m[2]; panicked {
				return "panic: " + paragraph(lines[i+1:]), file, line
			}
			return strings.Join(words, " "), file, line
		}
		if i == 0 {
			l = ginkgoFailed.FindStringSubmatch(l)[2]
		} else if ginkgoFailed.MatchString(l) {
			break
		}
		if l != "" {
			words = append(words, l)
		}
	}
	return "", "", ""
}

func ginkgo1(lines []string, panicked bool) (said, file, line string) {
	var words []string
	told := false // the spec has been
	for _, l := range lines {
		l = strings.TrimSpace(l)
		m := ginkgo1Place.FindStringSubmatch(l)
		switch {
		case !told:
			told = l == ""
		case strings.HasPrefix(l, "-----"):
			return "", "", ""
		case m != nil && panicked && len(words) > 1:
			return "panic: " + strings.Join(words[1:], " "), m[1], m[2] // the first line says that it did
		case m != nil:
			return strings.Join(words, " "), m[1], m[2]
		case l != "":
			words = append(words, l)
		}
	}
	return "", "", ""
}

// paragraph returns the first lines that are not empty in one.
func paragraph(lines []string) string {
	var words []string
	for _, l := range lines {
		if l = strings.TrimSpace(l); l != "" {
			words = append(words, l)
		} else if len(words) > 0 {
			break
		}
	}
	return strings.Join(words, " ")
}
