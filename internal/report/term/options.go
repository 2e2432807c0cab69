package term

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/term"
)

// Options are how to draw.
type Options struct {
	Width   int  // of a line in terminal cells; less than MinWidth counts as MinWidth
	Color   bool // use colours and bold print
	Full    bool // show every event instead of folding
	Stacks  bool // show whole call stacks, also those of waiting threads
	Unicode bool // use lines, arrows and letters outside of ASCII
}

// MinWidth is the narrowest that anything is drawn.
const MinWidth = 24

// defaultWidth is for output that is not a terminal.
const defaultWidth = 80

// Detect chooses options for a file that output goes to: the width of the terminal, or
// COLUMNS, or 80; colour for terminals, unless NO_COLOR is set (no-color.org) or the
// terminal is a dumb one; Unicode according to the locale in env.
func Detect(out *os.File, env []string) Options {
	get := func(name string) string {
		for i := len(env) - 1; i >= 0; i-- {
			if v, ok := strings.CutPrefix(env[i], name+"="); ok {
				return v
			}
		}
		return ""
	}
	o := Options{Width: defaultWidth, Unicode: utf8Locale(get)}
	if n, err := strconv.Atoi(get("COLUMNS")); err == nil && n > 0 {
		o.Width = n
	}
	if !term.IsTerminal(int(out.Fd())) {
		return o
	}
	if w, _, err := term.GetSize(int(out.Fd())); err == nil && w > 0 {
		o.Width = w
	}
	kind := get("TERM")
	o.Color = get("NO_COLOR") == "" && kind != "" && kind != "dumb"
	return o
}

// utf8Locale follows the order in which the C library asks the locale variables.
func utf8Locale(get func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToUpper(get(name)); v != "" {
			return strings.Contains(v, "UTF-8") || strings.Contains(v, "UTF8")
		}
	}
	return false
}
