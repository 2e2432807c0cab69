// Package bintrcred implements BinTrcRed, the binary trace reduction of El-Zawawy and Alanazi ("An
// Efficient Binary Technique for Trace Simplifications of Concurrent Programs"). It annotates a
// trace of statements (package stmt) with its connected segments (Figure 3), reduces it by rules
// that divide it in two (Figure 4), and executes it before and after (Figure 5). The reduction
// returns its derivation, which package proof checks.
//
// The rules as printed change the meaning of a trace and can even increase its context switches;
// docs/static.md has the smallest examples. Run uses a sound form of the rules. The tests
// contain the rules as printed.
package bintrcred
