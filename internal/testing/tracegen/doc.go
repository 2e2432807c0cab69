// Package tracegen makes traces to test and measure simplification with.
//
// Random runs small random programs on a machine that has the meaning of heddle's
// operations, and can run the same programs again in another order: what a simplifier
// returns must be an execution, and the same one. Cover turns a graph into a trace whose
// fewest switches are the graph's smallest vertex cover (Jalbert and Sen, FSE'10, Theorem
// 3.1).
package tracegen
