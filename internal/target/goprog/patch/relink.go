package patch

import "regexp"

// linked are functions of the runtime that programs reach by go:linkname, past the packages in which they are under virtual
// time and the plan's random numbers, and the functions of heddle's files that such a program gets. The runtime's own calls
// must have the real ones. Random numbers that come from runtime.rand need none.
var linked = map[string]string{
	"time.now":           "runtime.hdProgramNow",
	"runtime.nanotime":   "runtime.hdProgramNanotime",
	"runtime.nanotime1":  "runtime.hdProgramNanotime",
	"runtime.walltime":   "runtime.hdProgramWalltime",
	"runtime.cputicks":   "runtime.hdProgramNanotime",
	"runtime.cheaprand":  "runtime.hdProgramCheaprand",
	"runtime.cheaprandn": "runtime.hdProgramCheaprandn",
}

var linkname = regexp.MustCompile(`(?m)^(//go:linkname[ \t]+\S+[ \t]+)([\w.]+)([ \t\r]*)$`)

// Relink returns those of a program's files that have a go:linkname to one of these, with the name of what it gets instead.
// Lines keep their numbers.
func Relink(files map[string][]byte) map[string][]byte {
	changed := map[string][]byte{}
	for name, text := range files {
		replaced := false
		text = linkname.ReplaceAllFunc(text, func(line []byte) []byte {
			m := linkname.FindSubmatch(line)
			to, ok := linked[string(m[2])]
			if !ok {
				return line
			}
			replaced = true
			return append(append(append([]byte{}, m[1]...), to...), m[3]...)
		})
		if replaced {
			changed[name] = text
		}
	}
	return changed
}
