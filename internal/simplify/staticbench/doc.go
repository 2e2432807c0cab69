// Package staticbench measures static simplification: Table I of El-Zawawy and Alanazi, with
// SimTrace, merging back and forth and the optimum beside BinTrcRed, and how time and
// memory grow with the trace.
package staticbench
