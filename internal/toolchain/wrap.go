package toolchain

import (
	"fmt"
	"slices"
	"strings"
)

// Refusal is a usage error of heddle cc.
type Refusal struct{ message string }

func (r *Refusal) Error() string { return r.message }

func refuse(format string, args ...any) error { return &Refusal{fmt.Sprintf(format, args...)} }

// noPLT makes the loader look for each function that is called when it loads the program, not when
// the function is called. Code for a shared object (-fPIC) does without it, because a library may
// call functions that exist in some of its users only.
const noPLT = "-fno-plt"

// CompileFlags returns what heddle cc adds when something is compiled. The user's own flags follow
// and can override any of them.
func CompileFlags(c Compiler) []Flag {
	flags := []Flag{
		{"-fsanitize=thread", "calls the runtime at each memory access, atomic operation and function", Compile, 0},
		{"-g", "traces are shown as source lines", Compile, 0},
		{"-fno-omit-frame-pointer", "stacks of threads can be walked", Compile, 0},
		{"-U_FORTIFY_SOURCE", "its checks become plain copies inside of the compiler, and those are not seen; some distributions define it", Compile, 0},
		// Without these, gcc inlines copies of known size after the pass that adds the calls, and
		// the copies are missed. clang keeps the calls anyway.
		{"-fno-builtin-memcpy", "a copy is a call, which the runtime sees", Compile, GCC},
		{noPLT, "a call of a hook reads its address itself, and needs no second jump", Compile, GCC},
		{"-fno-builtin-memmove", "a copy is a call, which the runtime sees", Compile, GCC},
		{"-fno-builtin-memset", "a fill is a call, which the runtime sees", Compile, GCC},
	}
	if c.Family == GCC && c.Major >= 11 {
		flags = append(flags,
			Flag{"-Wno-tsan", "fences are supported here, ThreadSanitizer's warning is not true", Compile, GCC},
			Flag{"--param=tsan-distinguish-volatile=1", "volatile accesses have calls of their own", Compile, GCC})
	}
	if c.Family == Clang && c.Major >= 11 {
		flags = append(flags,
			Flag{"-mllvm", "the next is an argument for LLVM", Compile, Clang},
			Flag{"-tsan-distinguish-volatile=1", "volatile accesses have calls of their own", Compile, Clang},
			Flag{"-mllvm", "the next is an argument for LLVM", Compile, Clang},
			Flag{"-tsan-instrument-read-before-write=1", "a load before a store to the same place is an access, too: another thread may come between", Compile, Clang})
	}
	return flags
}

// conflicting are the sanitizers that need what the runtime replaces: the allocator, the interposed
// functions, or the whole shadow memory.
var conflicting = []string{"address", "kernel-address", "hwaddress", "kernel-hwaddress", "leak",
	"memory", "kernel-memory", "dataflow", "realtime", "type", "numerical"}

// Wrap turns a compiler's arguments into those that build the same output with access hooks and
// heddle's runtime. The result includes the compiler itself. runtime is called if something is
// linked. Command lines that cannot work with heddle return a *Refusal.
//
// The user's arguments stay unchanged and in order, but for a few that hinder the hooks, so that one command can still compile and
// link many files, and -MD, -save-temps, -o and all others keep their meaning. gcc also gets
// -fsanitize=thread when it links, because link-time optimization adds the calls then; it finds the
// runtime under the name of ThreadSanitizer's library. clang gets an option not to link a sanitizer's
// library.
func Wrap(c Compiler, args []string, runtime func() (Runtime, error)) ([]string, error) {
	expanded := expandResponses(args, readResponse)
	line := parse(expanded)
	if line.asks || line.sources+line.headers+line.objects == 0 {
		return slices.Concat(c.Command, args), nil
	}
	if err := line.check(); err != nil {
		return nil, err
	}
	// If another sanitizer's library is linked, clang must not see ThreadSanitizer: its driver
	// would omit both libraries or neither.
	shared := c.Family == Clang && line.otherSanitizer()

	argv := slices.Clone(c.Command)
	gnu := false // clang uses the assembler that adds hooks
	if c.Assembler != "" && !line.noThread {
		argv = append(argv, "-B"+c.Assembler+"/")
		// clang's own assembler is a part of it. What only this one understands stays with it.
		if c.Family == Clang && line.compiles && !line.intel {
			argv = append(argv, "-no-integrated-as")
			gnu = true
		}
	}
	if line.sources+line.headers > 0 {
		for _, f := range CompileFlags(c) {
			switch {
			case f.Only != 0 && f.Only != c.Family:
			case f.Arg == noPLT && line.shareable:
			case f.Arg == "-fsanitize=thread" && shared:
				if !line.noThread {
					argv = append(argv, "-Xclang", f.Arg)
				}
			default:
				argv = append(argv, f.Arg)
			}
		}
	}
	if line.links && !line.partial {
		if c.Family == Clang && c.Major != 0 && c.Major < 10 {
			return nil, fmt.Errorf("%s, %s, cannot link without ThreadSanitizer's library: set HEDDLE_CC and HEDDLE_CXX to clang 10 or later, or to gcc", c.Path(), c.Version)
		}
		rt, err := runtime()
		if err != nil {
			return nil, err
		}
		if c.Family == GCC {
			// -B and -L make the library and the start-up object that the driver adds on its own
			// for -fsanitize=thread the runtime's too.
			argv = append(argv, "-fsanitize=thread", "-B"+rt.Dir+"/", "-L"+rt.Dir)
		} else if !shared {
			argv = append(argv, "-fno-sanitize-link-runtime")
		}
		argv = append(argv, "-pthread")
		for _, a := range []string{"-rpath", rt.Dir, "--push-state", "--no-as-needed", rt.Library, "--pop-state"} {
			argv = append(argv, "-Xlinker", a)
		}
	}
	user := withoutThread(expanded, shared)
	if gnu && !line.keepsBitcode() {
		user = withoutLTO(user)
	}
	if !slices.Equal(user, expanded) {
		return append(argv, user...), nil
	}
	return append(argv, args...), nil
}

// check rejects command lines that cannot work.
func (l cmdline) check() error {
	if l.machine != "" {
		return refuse("%s: heddle's runtime exists for 64-bit x86 Linux only; build without this option", l.machine)
	}
	for _, s := range conflicting {
		if spelling, on := l.sanitizers[s]; on {
			return refuse("%s: the %s sanitizer and heddle cannot share a program; build without it", spelling, s)
		}
	}
	if l.links && !l.partial && l.static != "" {
		return refuse("%s: heddle's runtime is a shared library; link without this option", l.static)
	}
	return nil
}

// otherSanitizer reports whether a sanitizer besides thread is on.
func (l cmdline) otherSanitizer() bool {
	for s := range l.sanitizers {
		if s != "thread" {
			return true
		}
	}
	return false
}

// withoutThread removes what would link ThreadSanitizer's own library: the option for its static
// form and, if name is set, thread from the sanitizers.
func withoutThread(args []string, name bool) []string {
	var out []string
	for _, arg := range args {
		switch list, isList := strings.CutPrefix(arg, "-fsanitize="); {
		case arg == "-static-libtsan":
		case isList && name:
			kept := slices.DeleteFunc(strings.Split(list, ","), func(s string) bool { return s == "thread" })
			if len(kept) > 0 {
				out = append(out, "-fsanitize="+strings.Join(kept, ","))
			}
		default:
			out = append(out, arg)
		}
	}
	return out
}
