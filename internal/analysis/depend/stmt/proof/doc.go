// Package proof holds derivations: what a trace was reduced by, step by step, written down
// so that somebody else can check it. It has the rules (see Rule), the text form, and the
// checker, which shares no code with what makes derivations (package bintrcred): it goes by
// the statements alone and works the dependences out for itself.
//
// A derivation that checks proves that the order at its end is the same execution as the
// trace (Theorem 2 of El-Zawawy and Alanazi) with no more context switches (Theorem 1).
package proof
