// Package toolchain is what heddle knows about compilers and executables: it builds the
// C runtime, stands in for the C and C++ compiler so that programs call the runtime's
// access hooks, and says whether a program can be run under the runtime at all.
//
// The runtime takes the place of ThreadSanitizer's library. Compilers emit the same calls
// as for -fsanitize=thread, and the runtime has that library's SONAME, so the loader
// finds the runtime wherever a program asks for ThreadSanitizer.
package toolchain
