package launch

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/internal/usage"
	"github.com/heddle-dev/heddle/trace"
)

// harmlessFlags are the build flags that heddle accepts in recipes from others, each with a check
// of its value. Flags of compiler, linker and tests can write any file (-gcflags=-o=, -args
// -test.coverprofile=), run any program (-ldflags=-extld=) or replace code (-overlay).
var harmlessFlags = map[string]func(value string) bool{
	"tags":      regexp.MustCompile(`^[\pL\pN_., ]*$`).MatchString,
	"mod":       func(v string) bool { return slices.Contains([]string{"readonly", "vendor", "mod"}, v) },
	"modfile":   filepath.IsLocal,
	"ldflags":   harmlessLinking,
	"gcflags":   regexp.MustCompile(`^([\pL\pN_./]+=)?(-(N|l|m|B|race|d=checkptr(=\d)?|S)( |$))*$`).MatchString,
	"pgo":       func(v string) bool { return v == "off" || v == "auto" || filepath.IsLocal(v) },
	"p":         regexp.MustCompile(`^\d{1,4}$`).MatchString,
	"trimpath":  func(v string) bool { return v == "" },
	"cover":     func(v string) bool { return v == "" },
	"covermode": func(v string) bool { return slices.Contains([]string{"set", "count"}, v) },
	"coverpkg":  regexp.MustCompile(`^[\pL\pN_./,~-]*$`).MatchString,
}

// harmlessEnv checks environment variables in the same way.
var harmlessEnv = map[string]func(value string) bool{
	"GOAMD64":      regexp.MustCompile(`^v[1-4]$`).MatchString,
	"GOEXPERIMENT": regexp.MustCompile(`^[a-z0-9,]*$`).MatchString,
}

var (
	harmlessVet = regexp.MustCompile(`^[a-z0-9,]*$`).MatchString
	// harmlessArg rejects the flags of a test binary itself.
	harmlessArg = func(v string) bool { return !strings.HasPrefix(strings.TrimLeft(v, "-"), "test.") || v[0] != '-' }
)

// harmless rejects a recipe from someone else that would make the go command or a test binary do
// more than build and run the program.
func harmless(r *trace.Recipe) error {
	refused := func(what string) error {
		return fmt.Errorf("the trace was not recorded by you on this machine, and asks for %s, which heddle does not accept from others: it could write files or run programs; record the bug again", what)
	}
	for _, flag := range r.Flags {
		name, value, _ := strings.Cut(strings.TrimPrefix(flag, "-"), "=")
		if allow := harmlessFlags[name]; allow == nil || !allow(value) || !strings.HasPrefix(flag, "-") {
			return refused(flag)
		}
	}
	for _, variable := range r.Env {
		name, value, _ := strings.Cut(variable, "=")
		if allow := harmlessEnv[name]; allow == nil || !allow(value) {
			return refused(variable)
		}
	}
	if !harmlessVet(r.Vet) {
		return refused("-vet=" + r.Vet)
	}
	if r.Kind != trace.RecipeTest {
		return nil
	}
	if len(r.Exec) > 0 {
		return refused("-exec=" + strings.Join(r.Exec, " "))
	}
	for _, arg := range r.Args {
		if !harmlessArg(arg) {
			return refused("-args=" + arg)
		}
	}
	return nil
}

// harmlessLinking allows -s, -w and -X with a value.
func harmlessLinking(value string) bool {
	if i := strings.IndexByte(value, '='); i > 0 && value[0] != '-' {
		value = value[i+1:] // a pattern of packages precedes the value
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

// checkPackages rejects words that the go command would treat as flags.
func checkPackages(what []string) error {
	for _, w := range what {
		if strings.HasPrefix(w, "-") {
			return usage.Errorf("%q is not a package: its name begins with a dash", w)
		}
	}
	return nil
}
