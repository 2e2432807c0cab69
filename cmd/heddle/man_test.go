package main

import (
	"os/exec"
	"strings"
	"testing"
)

// sections splits a man page at its .SH lines.
func sections(t *testing.T, page manPage) map[string]string {
	t.Helper()
	parts := strings.Split(page.text, "\n.SH ")
	if !strings.HasPrefix(parts[0], ".TH ") {
		t.Errorf("%s begins with %q", page.name, parts[0])
	}
	found := map[string]string{}
	for _, s := range parts[1:] {
		title, body, _ := strings.Cut(s, "\n")
		found[title] = body
	}
	return found
}

func TestManPages(t *testing.T) {
	t.Parallel()
	pages, err := manPages()
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]map[string]string{}
	for _, page := range pages {
		s := sections(t, page)
		texts[page.name] = s
		for _, title := range []string{"NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "ENVIRONMENT", "SEE ALSO"} {
			if strings.TrimSpace(s[title]) == "" {
				t.Errorf("%s has no %s", page.name, title)
			}
		}
		for _, variable := range []string{"HEDDLE_CACHE", "HEDDLE_CC", "HEDDLE_CXX", "NO_COLOR"} {
			if !strings.Contains(s["ENVIRONMENT"], variable+"\\fP\n") {
				t.Errorf("%s does not name %s", page.name, variable)
			}
		}
		// A term is a line of its own, and what it means another.
		lines := strings.Split(page.text, "\n")
		for i, line := range lines {
			if line == ".TP" && (!strings.HasPrefix(lines[i+1], `\fB`) || !strings.HasSuffix(lines[i+1], `\fP`) || lines[i+2] == "" || lines[i+2][0] == '.') {
				t.Errorf("%s: item %q, %q", page.name, lines[i+1], lines[i+2])
			}
		}
	}
	for _, test := range []struct{ page, section, want string }{
		{"heddle", "COMMANDS", "heddle find\\fP\nExplore"},
		{"heddle", "OPTIONS", `\-\-json\fP` + "\nPrint JSON."},
		{"heddle-find", "DESCRIPTION", ".PP\nExplore schedules until something breaks; write, simplify and show the trace.\n.PP\nRuns the program again and again under different schedules"},
		{"heddle-cc", "DESCRIPTION", "$HEDDLE_CC"},
		{"heddle-c++", "DESCRIPTION", "$HEDDLE_CXX"},
		{"heddle-cc", "EXIT STATUS", "The compiler's"},
		{"heddle-check", "COMMANDS", ".PP\nReplay the proof"},
		{"heddle-check", "EXIT STATUS", "1: a step does not follow, or the simplified trace is not"},
		{"heddle-find", "EXIT STATUS", "1: a bug was found."},
		{"heddle-test", "OPTIONS", `\-\-run=REGEXP`},
	} {
		if !strings.Contains(texts[test.page][test.section], test.want) {
			t.Errorf("%s, %s, lacks %q:\n%s", test.page, test.section, test.want, texts[test.page][test.section])
		}
	}
	if s := texts["heddle-show"]["EXIT STATUS"]; strings.Contains(s, "1:") {
		t.Errorf("heddle show never finds a bug: %s", s)
	}
}

// What the formatters make of the pages has no warnings, and every paragraph is filled.
func TestManPagesRender(t *testing.T) {
	t.Parallel()
	formatters := map[string][]string{
		"groff":  {"-man", "-Kutf8", "-Tutf8", "-ww", "-P-cbou"},
		"mandoc": {"-T", "utf8", "-W", "error"},
	}
	pages, err := manPages()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for name, args := range formatters {
		if _, err := exec.LookPath(name); err != nil {
			continue
		}
		n++
		for _, page := range pages {
			cmd := exec.Command(name, args...)
			cmd.Stdin = strings.NewReader(page.text)
			var warnings, out strings.Builder
			cmd.Stdout, cmd.Stderr = &out, &warnings
			if err := cmd.Run(); err != nil || warnings.Len() > 0 {
				t.Errorf("%s, %s: %v\n%s", name, page.name, err, &warnings)
			}
			words := strings.Join(strings.Fields(out.String()), " ")
			if page.name == "heddle-show" && !strings.Contains(words, "DESCRIPTION Draw a trace: a column per thread. Draws a column per thread") {
				t.Errorf("%s shows:\n%s", name, &out)
			}
		}
	}
	if n == 0 {
		t.Skip("neither groff nor mandoc is installed")
	}
}
