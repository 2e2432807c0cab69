// Package bintrcred is BinTrcRed, the binary trace reduction of El-Zawawy and Alanazi ("An
// Efficient Binary Technique for Trace Simplifications of Concurrent Programs"): a trace
// of statements (package stmt) is annotated with what is connected with what (Figure 3),
// reduced by rules that part it in two (Figure 4), and executed before and after (Figure
// 5). The reduction hands out its derivation, which package proof checks.
//
// As printed the rules change what a trace means, and can even make more context switches
// of it; docs/static.md has the smallest examples. Printed is those rules to the letter,
// Reduce the ones that hold.
package bintrcred
