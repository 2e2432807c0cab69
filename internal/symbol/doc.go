// Package symbol turns the machine names of a trace into the programmer's: a
// trace.Site into function, file and line with every inlined frame, a trace.Object into
// `queue.head`, `account[2].balance`, `block #3+8` or `stack of T1 -0x40`.
//
// What it reads: DWARF 2 to 5 of ELF files (compressed sections, type units, files shared by
// dwz and split units in .dwo and .dwp files included), from the module itself or from its
// separate debug file (.build-id directory or .gnu_debuglink), then the ELF symbol tables,
// then nothing: `module+0x1234`. A name is always found; how good it is depends on what the
// build left. A module whose build id is not the recorded one is never used: a wrong line is
// worse than none (see Table.Problems).
//
// Modules are opened on first use, compilation units are read on the first address that
// falls into them, and answers are kept.
package symbol
