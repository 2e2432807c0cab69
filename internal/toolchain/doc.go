// Package toolchain handles compilers and executables: it builds the C runtime, wraps the C and C++
// compiler so that programs call the runtime's access hooks, and decides whether a program can run
// under the runtime.
//
// The runtime replaces ThreadSanitizer's library. Compilers emit the same calls as for
// -fsanitize=thread, and the runtime has that library's SONAME, so the loader finds the runtime
// wherever a program needs ThreadSanitizer.
package toolchain
