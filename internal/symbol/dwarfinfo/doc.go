// Package dwarfinfo reads DWARF 2 to 5: functions with their inlined calls, lines, variables and
// types, split units in .dwo and .dwp files, type units, and entries shared by dwz.
package dwarfinfo
