package toolchain

// Step is a stage of building the runtime.
type Step uint8

const (
	Compile   Step = 1 << iota // each source file
	Link                       // before the object files
	Libraries                  // after the object files
)

// Flag is one argument of a compiler and its purpose.
type Flag struct {
	Arg   string
	Why   string
	Steps Step
	Only  Family // 0: every family
}

// RuntimeFlags returns the arguments with which the runtime is built. They are part of the cache
// key.
func RuntimeFlags() []Flag {
	const both = Compile | Link
	return []Flag{
		{"-std=gnu11", "the runtime's language: C11 with GNU statement expressions and assembler", Compile, 0},
		{"-O2", "hooks run at every memory access", both, 0},
		{"-g", "a crash inside the runtime must be readable and distinguishable from the program's", both, 0},
		{"-mpopcnt", "sets of threads are counted at every choice; every CPU since 2008 can", Compile, 0},
		{"-fPIC", "a shared object", both, 0},
		{"-pthread", "programs under test have threads; before glibc 2.34 they are a library of their own", both, 0},
		{"-fvisibility=hidden", "only what stands in for another function is exported", Compile, 0},
		{"-ftls-model=initial-exec", "loaded at start, so no hook has to call __tls_get_addr, which may allocate", Compile, 0},
		{"-fno-stack-protector", "the guard lies in the thread control block, which a fiber switch changes under a running function", Compile, 0},
		{"-fno-omit-frame-pointer", "stacks are walked from inside signal handlers", Compile, 0},
		{"-momit-leaf-frame-pointer", "hooks of memory accesses call nothing", Compile, 0},
		{"-fno-builtin", "the runtime defines malloc, memcpy, … itself: no assumptions about what they do", Compile, 0},
		{"-fno-tree-loop-distribute-patterns", "gcc turns copy loops into calls of memcpy even with -fno-builtin, and a hook must not reach the interposed one", Compile, GCC},
		{"-fexceptions", "C++ exceptions and pthread_exit unwind through frames of the runtime", Compile, 0},
		{"-fcf-protection=none", "a shadow stack does not follow fiber switches", Compile, 0},
		{"-U_FORTIFY_SOURCE", "some distributions define it; the checked functions are calls into libc", Compile, 0},
		{"-shared", "a shared object", Link, 0},
		{"-Wl,-soname,libtsan.so.2", "the name under which gcc's programs ask for ThreadSanitizer", Link, 0},
		{"-Wl,-z,initfirst", "its constructor runs before those of all other libraries", Link, 0},
		{"-Wl,-z,now", "no lazy binding, which would run the loader inside of hooks, on fibers' stacks", Link, 0},
		{"-Wl,-z,defs", "a name that is nowhere defined is an error here and not in the user's program", Link, 0},
		{"-Wl,-Bsymbolic", "the runtime calls its own functions even if the program has some of the same name", Link, 0},
		{"-lgcc_s", "the unwinder, shared with the program's C++ library", Libraries, 0},
		{"-ldl", "dlsym, before glibc 2.34", Libraries, 0},
	}
}

// flagsFor returns the arguments of one step for one family.
func flagsFor(step Step, family Family) []string {
	var args []string
	for _, f := range RuntimeFlags() {
		if f.Steps&step != 0 && (f.Only == 0 || f.Only == family) {
			args = append(args, f.Arg)
		}
	}
	return args
}
