package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// harmless refuses, in the recorded command line of somebody else, what makes the go command or
// a test binary do more than build and run the program: flags of compiler, linker and tests can
// write any file (-gcflags=-o=, -args -test.coverprofile=), run any program (-ldflags=-extld=)
// or put other code in (-overlay). Flags that are not flags of heddle test do not parse at all.
func (c *commandLine) harmless() error {
	f := &c.Test.goFlags
	one := func(value string) []string {
		if value == "" {
			return nil
		}
		return []string{value}
	}
	for _, flag := range []struct {
		name   string
		values []string
		allow  func(string) bool
	}{
		{"tags", one(f.Tags), regexp.MustCompile(`^[\pL\pN_., ]*$`).MatchString},
		{"mod", one(f.Mod), func(v string) bool { return slices.Contains([]string{"readonly", "vendor", "mod"}, v) }},
		{"modfile", one(f.Modfile), filepath.IsLocal},
		{"overlay", one(f.Overlay), func(string) bool { return false }},
		{"ldflags", f.Ldflags, harmlessLinking},
		{"gcflags", f.Gcflags, regexp.MustCompile(`^([\pL\pN_./]+=)?(-(N|l|m|B|race|d=checkptr(=\d)?|S)( |$))*$`).MatchString},
		{"asmflags", f.Asmflags, func(string) bool { return false }},
		{"pgo", one(f.PGO), func(v string) bool { return v == "off" || v == "auto" || filepath.IsLocal(v) }},
		{"p", one(f.P), regexp.MustCompile(`^\d{1,4}$`).MatchString},
		{"vet", one(f.Vet), regexp.MustCompile(`^[a-z0-9,]+$`).MatchString},
		{"args", c.Test.Args, func(v string) bool { return !strings.HasPrefix(strings.TrimLeft(v, "-"), "test.") || v[0] != '-' }},
	} {
		for _, v := range flag.values {
			if !flag.allow(v) {
				return fmt.Errorf("the trace was not recorded by you on this machine, and asks for -%s=%s, which heddle does not take from others: it could write files or run programs; record the bug again", flag.name, v)
			}
		}
	}
	return nil
}

// harmlessLinking allows -s, -w and -X with a value.
func harmlessLinking(value string) bool {
	if i := strings.IndexByte(value, '='); i > 0 && value[0] != '-' {
		value = value[i+1:] // a pattern of packages
	}
	if strings.ContainsAny(value, `'"`) {
		return false
	}
	for words := strings.Fields(value); len(words) > 0; words = words[1:] {
		switch w := words[0]; {
		case w == "-s" || w == "-w" || strings.HasPrefix(w, "-X=") && strings.Contains(w[3:], "="):
		case w == "-X" && len(words) > 1 && strings.Contains(words[1], "=") && words[1][0] != '-':
			words = words[1:]
		default:
			return false
		}
	}
	return true
}

// checkPackages refuses words that the go command would take for flags.
func checkPackages(what []string) error {
	for _, w := range what {
		if strings.HasPrefix(w, "-") {
			return usage(fmt.Errorf("%q is not a package: its name begins with a dash", w))
		}
	}
	return nil
}
