package expectation

import (
	"regexp"
	"strings"
)

var (
	// labelled matches a line of testify's report that begins a field.
	labelled = regexp.MustCompile(`^\s*(Error Trace|Error|Test|Messages):\s*(.*)$`)
	// matcher matches the line of gomega's report between the values that were met and expected.
	matcher = regexp.MustCompile(`^(not )?to [\w ]+$`)
)

// Headline returns what the message of a failed Go test says in one line: testify's error with its values and the test's own
// words, gomega's values and matcher, and otherwise the first line, with the next one if it ends with a colon.
func Headline(message string) string {
	var lines []string
	for l := range strings.Lines(message) {
		if l = strings.TrimRight(l, " \t\r\n"); l != "" || len(lines) > 0 {
			lines = append(lines, l)
		}
	}
	if len(lines) == 0 {
		return ""
	}
	first := strings.TrimSpace(lines[0])
	switch {
	case labelled.MatchString(lines[0]):
		if said := testify(lines); said != "" {
			return cut(said)
		}
	case first == "Expected":
		if said := gomega(lines); said != "" {
			return cut(said)
		}
	case strings.HasSuffix(first, ":") && len(lines) > 1 && lines[1] != "":
		return cut(first + " " + strings.TrimSpace(lines[1]))
	}
	return first
}

// testify returns the field Error up to its difference in full, and in parentheses the field Messages.
func testify(lines []string) string {
	fields := map[string][]string{}
	name := ""
	for _, l := range lines {
		if m := labelled.FindStringSubmatch(l); m != nil {
			name, l = m[1], m[2]
		}
		if l = strings.TrimSpace(l); l == "" {
			if len(fields[name]) > 0 { // the difference follows
				name = ""
			}
			continue
		}
		if name != "" {
			fields[name] = append(fields[name], l)
		}
	}
	said := listed(fields["Error"])
	if words := strings.Join(fields["Messages"], " "); words != "" && said != "" {
		said += " (" + words + ")"
	}
	return said
}

// spaces are those by which testify aligns values.
var spaces = regexp.MustCompile(`\s+:`)

// listed is lines as one: after a line that ends with a colon come its values, with commas between them.
func listed(lines []string) string {
	var s strings.Builder
	for i, l := range lines {
		switch {
		case i == 0:
		case strings.HasSuffix(lines[i-1], ":"):
			s.WriteString(" ")
		default:
			s.WriteString(", ")
		}
		s.WriteString(spaces.ReplaceAllString(l, ":"))
	}
	return s.String()
}

// gomega joins the values and the matcher between them; empty without a matcher.
func gomega(lines []string) string {
	var words []string
	found := false
	for _, l := range lines {
		if l = strings.TrimSpace(l); l == "" {
			break
		}
		found = found || matcher.MatchString(l)
		words = append(words, l)
	}
	if !found {
		return ""
	}
	return strings.Join(words, " ")
}
