package toolchain

import (
	"path/filepath"
	"strings"
)

// cmdline is a compiler's command line, parsed as far as heddle needs.
type cmdline struct {
	asks    bool // only prints something: --version, -print-…, --help, -dump…
	sources int  // files to compile or preprocess, standard input included
	headers int  // files to make precompiled headers of
	objects int  // files and libraries for the linker, and assembler code
	links   bool // the linker is run
	partial bool // … to make an object file of object files
	static  string
	machine string // -m32, -mx32, -m16 or a --target of another machine, if in force
	// sanitizers in effect after all options, with the option that enabled each
	sanitizers map[string]string
	shareable  bool // -fPIC or -fpic: the code may be for a shared object
	noThread   bool // -fno-sanitize=thread or all: access hooks are not wanted
	compiles   bool // a source is in another language than assembly
	emitsLLVM  bool // -emit-llvm
	intel      bool // -masm=intel
}

// separate are the options whose value is the next argument. If one were missing, its value would
// be taken for a file to link, which matters only if no other file is given.
var separate = set(`
	-o -x -I -L -D -U -A -l -T -u -z -e -h -R -F -B -G
	-include -imacros -isystem -idirafter -iprefix -iwithprefix -iwithprefixbefore
	-isysroot -imultilib -iquote -cxx-isystem -MF -MT -MQ -Xlinker -Xpreprocessor -Xassembler
	-aux-info -dumpbase -dumpbase-ext -dumpdir -specs -wrapper -Tbss -Tdata -Ttext
	--assert --define-macro --entry --for-assembler --for-linker --force-link --include
	--include-barrier --include-directory --include-directory-after --include-prefix
	--include-with-prefix --include-with-prefix-after --include-with-prefix-before
	--language --library-directory --output --param --prefix --specs --sysroot
	--undefine-macro --write-dependencies --write-user-dependencies
	-Xclang -mllvm -target -arch -Xanalyzer -Xopenmp-target -Xcuda-ptxas -Xcuda-fatbinary
	-include-pch -ivfsoverlay -iframework -framework -rpath -working-directory
	--serialize-diagnostics -serialize-diagnostics -gcc-toolchain -mthread-model
	-ftrapv-handler -dependency-dot -dependency-file -fmodule-file-home-is-cwd
	-ccc-install-dir -ccc-gcc-name -current_version -compatibility_version -install_name
`)

// stops are the options with which the compiler stops before linking.
var stops = set(`-c -S -E -M -MM -fsyntax-only --compile --assemble --preprocess
	--dependencies --user-dependencies --syntax-only --analyze --precompile -fmodule-header
	-extract-api -emit-ast -emit-interface-stubs`)

var sourceSuffix = set(`.c .i .ii .cc .cp .cxx .cpp .CPP .c++ .C .ixx .cppm .m .mi .mm .M .mii
	.S .sx .f .F .for .FOR .f90 .F90 .f95 .F95 .f03 .f08 .go .d .adb .ads .ll .cl .cu`)

var assemblySuffix = set(`.s .S .sx`)

var headerSuffix = set(`.h .hh .H .hp .hxx .hpp .HPP .h++ .tcc`)

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// parse reads a command line whose response files have been expanded.
func parse(args []string) cmdline {
	c := cmdline{links: true, sanitizers: map[string]string{}}
	language := ""
	if len(args) > 0 && (args[0] == "-cc1" || args[0] == "-cc1as") {
		return cmdline{asks: true} // not the driver but the compiler proper, as printed by -###
	}
	file := func(name string) {
		ext := filepath.Ext(name)
		assembly := strings.HasPrefix(language, "assembler") || language == "" && assemblySuffix[ext]
		switch {
		case strings.HasSuffix(language, "-header"), language == "" && headerSuffix[ext]:
			c.headers++
		case language != "" && language != "assembler", language == "" && (name == "-" || sourceSuffix[ext]):
			c.sources++
			c.compiles = c.compiles || !assembly
		default:
			c.objects++
		}
	}
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" { // clang: the rest are files
			for _, name := range args[i+1:] {
				file(name)
			}
			break
		}
		if arg == "-" || !strings.HasPrefix(arg, "-") {
			file(arg)
			continue
		}
		value := ""
		if separate[arg] && i+1 < len(args) {
			i++
			value = args[i]
		}
		c.option(arg, value, &language)
	}
	c.links = c.links && c.sources+c.objects > 0
	return c
}

// option processes one option and, if it is a separate argument, its value.
func (c *cmdline) option(arg, value string, language *string) {
	name, joined, _ := strings.Cut(arg, "=")
	switch {
	case stops[arg]:
		c.links = false
	case arg == "-x", arg == "--language":
		*language = value
	case name == "--language":
		*language = joined
	case strings.HasPrefix(arg, "-x"):
		*language = arg[2:]
	case arg == "-l", strings.HasPrefix(arg, "-l"):
		c.objects++
	case arg == "-r", arg == "--relocatable":
		c.partial = true
	case arg == "-Xlinker", arg == "--for-linker":
		c.linker(value)
	case name == "--for-linker":
		c.linker(joined)
	case strings.HasPrefix(arg, "-Wl,"):
		for _, a := range strings.Split(arg[len("-Wl,"):], ",") {
			c.linker(a)
		}
	case arg == "-static", arg == "--static", arg == "-static-pie":
		c.static = arg
	case arg == "-fPIC", arg == "-fpic":
		c.shareable = true
	case arg == "-fno-pic", arg == "-fno-PIC", arg == "-fPIE", arg == "-fpie", arg == "-fno-pie", arg == "-fno-PIE":
		c.shareable = false
	case arg == "-emit-llvm":
		c.emitsLLVM = true
	case name == "-masm":
		c.intel = joined == "intel"
	case arg == "-m64":
		c.machine = ""
	case arg == "-m32", arg == "-mx32", arg == "-m16":
		c.machine = arg
	case arg == "-target":
		c.target(arg+" "+value, value)
	case name == "--target":
		c.target(arg, joined)
	case name == "-fsanitize":
		for _, s := range strings.Split(joined, ",") {
			c.sanitizers[s] = arg
			c.noThread = c.noThread && s != "thread"
		}
	case name == "-fno-sanitize":
		for _, s := range strings.Split(joined, ",") {
			delete(c.sanitizers, s)
			if s == "all" {
				clear(c.sanitizers)
			}
			c.noThread = c.noThread || s == "all" || s == "thread"
		}
	case arg == "--version", arg == "--target-help", arg == "-help", name == "--help",
		strings.HasPrefix(arg, "-print-"), strings.HasPrefix(arg, "--print-"),
		arg == "-dumpversion", arg == "-dumpfullversion", arg == "-dumpmachine", arg == "-dumpspecs":
		c.asks = true
	}
	if *language == "none" {
		*language = ""
	}
}

func (c *cmdline) linker(arg string) {
	switch arg {
	case "-r", "-i", "-Ur", "--relocatable":
		c.partial = true
	}
}

func (c *cmdline) target(spelling, triple string) {
	c.machine = ""
	if !strings.HasPrefix(triple, "x86_64") || !strings.Contains(triple, "linux") || strings.Contains(triple, "musl") || strings.HasSuffix(triple, "x32") {
		c.machine = spelling
	}
}
