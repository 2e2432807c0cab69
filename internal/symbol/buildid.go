package symbol

import "debug/elf"

// BuildID is the GNU build id of a file in hex, empty if it has none: what the module of
// a trace is compared with.
func BuildID(e *elf.File) string { return noteBuildID(e) }
