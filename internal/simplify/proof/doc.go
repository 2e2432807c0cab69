// Package proof checks derivations of BinTrcRed (stmt.Derivation). It shares no code with package
// bintrcred, which makes them: it uses only the statements, and determines independently which
// units must keep their order.
//
// A valid derivation proves that its final order is the same execution as the trace (Theorem 2 of
// El-Zawawy and Alanazi) with no more context switches (Theorem 1).
package proof
