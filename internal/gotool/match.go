package gotool

import (
	"fmt"
	"regexp"
	"strings"
)

// Filter is go test's -run and -skip.
type Filter struct {
	Run, Skip string
	run, skip []alternative
}

// alternative is one of the parts that "|" separates outside brackets, by levels of subtests.
type alternative []string

// NewFilter parses -run and -skip as the testing package does.
func NewFilter(run, skip string) (*Filter, error) {
	f := &Filter{Run: run, Skip: skip}
	for _, p := range []struct {
		flag, text string
		into       *[]alternative
	}{{"-run", run, &f.run}, {"-skip", skip, &f.skip}} {
		if p.text == "" {
			continue
		}
		*p.into = alternatives(p.text)
		for _, a := range *p.into {
			for _, level := range a {
				if _, err := regexp.Compile(level); err != nil {
					return nil, fmt.Errorf("%s: %q is not a regular expression: %w", p.flag, level, err)
				}
			}
		}
	}
	return f, nil
}

// Select returns the -test.run that runs this one test, including the part of -run that selects its
// subtests; false if the test is not selected.
func (f *Filter) Select(test string) (run string, ok bool) {
	for _, a := range f.skip {
		if len(a) == 1 && matches(a[0], test) {
			return "", false
		}
	}
	if len(f.run) == 0 {
		return Only(test), true
	}
	var parts []string
	for _, a := range f.run {
		if !matches(a[0], test) {
			continue
		}
		if len(a) == 1 {
			return Only(test), true
		}
		parts = append(parts, strings.Join(append([]string{Only(test)}, a[1:]...), "/"))
	}
	return strings.Join(parts, "|"), len(parts) > 0
}

// matches reports whether expr, a valid expression, matches name.
func matches(expr, name string) bool { return regexp.MustCompile(expr).MatchString(name) }

// Only returns the -test.run of one test or subtest alone.
func Only(name string) string {
	levels := strings.Split(name, "/")
	for i, l := range levels {
		levels[i] = "^" + regexp.QuoteMeta(l) + "$"
	}
	return strings.Join(levels, "/")
}

// alternatives splits as the testing package does: at each "|" and "/" that is outside brackets and
// not escaped.
func alternatives(s string) (out []alternative) {
	var levels alternative
	square, round, begin := 0, 0, 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '[':
			square++
		case ']':
			square = max(square-1, 0)
		case '(':
			if square == 0 {
				round++
			}
		case ')':
			if square == 0 {
				round--
			}
		case '\\':
			i++
		case '/', '|':
			if square != 0 || round != 0 {
				continue
			}
			levels = append(levels, s[begin:i])
			if s[i] == '|' {
				out, levels = append(out, levels), nil
			}
			begin = i + 1
		}
	}
	return append(out, append(levels, s[begin:]))
}
