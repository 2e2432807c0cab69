// Package symbol resolves the addresses of a trace to source-level names: a trace.Site to function,
// file and line with every inlined frame, a trace.Object to `queue.head`, `account[2].balance`,
// `block #3+8` or `stack of T1 -0x40`.
//
// It reads DWARF 2 to 5 of ELF files (compressed sections, type units, files shared by dwz and
// split units in .dwo and .dwp files included), from the module itself or from its separate debug
// file (.build-id directory or .gnu_debuglink), and the ELF symbol tables. Without either, a name
// is `module+0x1234`. So every address has a name, whose quality depends on what the build kept. A
// module whose build id differs from the recorded one is never used: a wrong line is worse than no
// line (see Table.Problems).
//
// Modules are opened on first use, compilation units are read at the first lookup of one of their
// addresses, and results are cached.
package symbol
