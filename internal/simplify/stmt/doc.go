// Package stmt reads a trace as statements of the small concurrent language of El-Zawawy
// and Alanazi ("An Efficient Binary Technique for Trace Simplifications of Concurrent
// Programs", Figure 2): what they do to local and global variables, locks and threads, and
// nothing else. It has their operational semantics (Figure 5) as printed, and the one that
// it must have been meant to be, which can be executed to see whether two orders of a trace
// are equivalent.
//
// A trace in this language is written by hand (Parse), or made from a heddle trace
// (FromTrace); then an event is a unit of one or more statements that are never taken
// apart.
//
// # Where the language of the paper is completed
//
// Require and Release name their lock, Duplicate and Initiate their thread; in the paper
// there is one lock, and the reader infers the thread that is started or awaited. A localize or
// Share may be of a range of globals, for accesses of more than one variable.
//
// The text of the paper says that Share(l, g) copies g into l and calls that a read, and
// that localize(l, g) copies l to g. Figure 5 defines the opposite, and only that
// makes C3 of Definition 2 the set of conflicting pairs: (Share, Share) is in it and
// (localize, localize) is not. So localize reads and Share writes.
package stmt
