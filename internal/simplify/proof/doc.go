// Package proof checks derivations of BinTrcRed (stmt.Derivation). It shares no code with
// what makes them (package bintrcred): it goes by the statements alone, and works out for
// itself what must not change places.
//
// A derivation that checks proves that the order at its end is the same execution as the
// trace (Theorem 2 of El-Zawawy and Alanazi) with no more context switches (Theorem 1).
package proof
