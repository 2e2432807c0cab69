package toolchain

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sync/errgroup"

	"github.com/heddle-dev/heddle"
)

const (
	libraryName = "libheddle.so"
	preinitName = "libtsan_preinit.o"
	sourceDir   = "src"
	objectDir   = "obj" // during the build
)

// links are the other names of the library. gcc -fsanitize=thread links libtsan.so; programs linked
// that way need a numbered one: 0 up to gcc 11, 2 from gcc 12.
var links = []string{"libtsan.so", "libtsan.so.0", "libtsan.so.2"}

// Options for building the runtime.
type Options struct {
	Compiler Compiler // a C compiler
	Cache    string   // the cache directory, see CacheDir
	Source   fs.FS    // laid out as this repository's runtime/; nil for that
	// Building is called before the runtime is compiled, or before waiting for another process that
	// compiles it; the function it returns is called afterwards. May be nil.
	Building func() (done func())
}

// Runtime is a built runtime.
type Runtime struct {
	// Dir holds the library under every name that a program may need: Library, libtsan.so,
	// libtsan.so.0 and libtsan.so.2.
	Dir     string
	Library string
}

// Build returns the runtime built with the given compiler, from the cache if possible. Any number
// of processes may call it concurrently for one cache; one of them builds. A build that is killed
// leaves nothing that a later one would take for complete.
func Build(ctx context.Context, opt Options) (Runtime, error) {
	source := opt.Source
	if source == nil {
		source = heddle.CRuntime()
	}
	files, err := readSource(source)
	if err != nil {
		return Runtime{}, err
	}
	dir := filepath.Join(opt.Cache, key(files, opt.Compiler))
	rt := Runtime{Dir: dir, Library: filepath.Join(dir, libraryName)}
	if complete(dir) {
		return rt, nil
	}
	if err := os.MkdirAll(opt.Cache, 0o777); err != nil {
		return Runtime{}, cannotWrite(opt.Cache, err)
	}
	if opt.Building != nil {
		defer opt.Building()()
	}
	unlock, err := lock(ctx, dir+".lock")
	if err != nil {
		if ctx.Err() != nil {
			return Runtime{}, err
		}
		return Runtime{}, cannotWrite(opt.Cache, err)
	}
	defer unlock()
	if complete(dir) { // built by the previous owner of the lock
		return rt, nil
	}
	// What exists now was left by killed builds, or by an incomplete removal of the cache.
	leftovers, _ := filepath.Glob(dir + ".build-*")
	for _, l := range append(leftovers, dir) {
		if err := os.RemoveAll(l); err != nil {
			return Runtime{}, cannotWrite(opt.Cache, err)
		}
	}
	tmp, err := os.MkdirTemp(opt.Cache, filepath.Base(dir)+".build-")
	if err != nil {
		return Runtime{}, cannotWrite(opt.Cache, err)
	}
	defer os.RemoveAll(tmp)
	b := build{compiler: opt.Compiler, files: files, tmp: tmp, dir: dir}
	if err := b.run(ctx); err != nil {
		var pe *os.PathError
		if errors.As(err, &pe) {
			return Runtime{}, cannotWrite(opt.Cache, err)
		}
		return Runtime{}, err
	}
	if err := os.Rename(tmp, dir); err != nil && !complete(dir) {
		return Runtime{}, cannotWrite(opt.Cache, err)
	}
	syncPath(opt.Cache)
	return rt, nil
}

// complete reports whether dir holds a complete runtime. The library's section table is at its end,
// so a truncated one does not open.
func complete(dir string) bool {
	f, err := elf.Open(filepath.Join(dir, libraryName))
	if err != nil {
		return false
	}
	f.Close()
	for _, name := range append([]string{preinitName}, links...) {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

// sourceFile is one file of the runtime.
type sourceFile struct {
	name string // slash-separated, relative to the runtime's directory
	data []byte
}

// compiled reports whether f is a C or assembler file of the architecture that checkTarget
// accepts. Each architecture has a directory below c/arch.
func (f sourceFile) compiled() bool {
	const machine = "x86_64"
	if rest, ok := strings.CutPrefix(f.name, "c/arch/"); ok {
		if dir, _, below := strings.Cut(rest, "/"); below && dir != machine {
			return false
		}
	}
	return path.Ext(f.name) == ".c" || path.Ext(f.name) == ".S"
}

// readSource reads all sources, sorted by name.
func readSource(source fs.FS) ([]sourceFile, error) {
	var files []sourceFile
	err := fs.WalkDir(source, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(source, name)
		files = append(files, sourceFile{name, data})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("the runtime's source cannot be read: %w", err)
	}
	if !slices.ContainsFunc(files, sourceFile.compiled) {
		return nil, errors.New("the runtime's source has no C file: this heddle was built from an incomplete checkout, build it again from a whole one")
	}
	return files, nil
}

// key identifies everything that a build depends on.
func key(files []sourceFile, c Compiler) string {
	h := sha256.New()
	put := func(s string) { fmt.Fprintf(h, "%d:%s", len(s), s) } // different lists never have the same encoding
	put("layout 1")
	for _, word := range append(slices.Clone(c.Command), c.Version) {
		put(word)
	}
	for _, f := range RuntimeFlags() {
		put(f.Arg)
		put(fmt.Sprint(f.Steps, f.Only))
	}
	for _, f := range files {
		put(f.name)
		put(string(f.data))
	}
	return hex.EncodeToString(h.Sum(nil))[:20]
}

// build builds one runtime in a directory of its own.
type build struct {
	compiler Compiler
	files    []sourceFile
	tmp      string // where it is built
	dir      string // where it will be moved
}

func (b build) run(ctx context.Context) error {
	if err := b.checkTarget(ctx); err != nil {
		return err
	}
	for _, f := range b.files {
		name := filepath.Join(b.tmp, sourceDir, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(name, f.data, 0o666); err != nil {
			return err
		}
	}
	objects, err := b.compile(ctx)
	if err != nil {
		return err
	}
	link := slices.Concat(flagsFor(Link, b.compiler.Family), []string{"-o", libraryName}, objects, flagsFor(Libraries, b.compiler.Family))
	if err := b.cc(ctx, link...); err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(b.tmp, objectDir)); err != nil {
		return err
	}
	if err := b.preinit(ctx); err != nil {
		return err
	}
	for _, name := range links {
		if err := os.Symlink(libraryName, filepath.Join(b.tmp, name)); err != nil {
			return err
		}
	}
	for _, name := range []string{libraryName, preinitName, "."} {
		if err := syncPath(filepath.Join(b.tmp, name)); err != nil {
			return err
		}
	}
	return os.Chmod(b.tmp, 0o755) // MkdirTemp made it private
}

// checkTarget rejects compilers for other machines than the runtime's, before they reject its
// assembler with obscure messages.
func (b build) checkTarget(ctx context.Context) error {
	args := append(slices.Clone(b.compiler.Command[1:]), "-dumpmachine")
	cmd := exec.CommandContext(ctx, b.compiler.Path(), args...)
	cmd.Env = b.compiler.Environ()
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s -dumpmachine failed (%v): set HEDDLE_CC to a working gcc or clang", b.compiler.Path(), err)
	}
	machine := firstLine(string(out))
	switch {
	case !strings.HasPrefix(machine, "x86_64-") || !strings.Contains(machine, "linux") || strings.HasSuffix(machine, "x32"):
		return fmt.Errorf("%s compiles for %s, and heddle's runtime exists for 64-bit x86 Linux only: set HEDDLE_CC to a compiler for x86_64-linux-gnu", b.compiler.Path(), machine)
	case strings.Contains(machine, "musl"):
		return fmt.Errorf("%s compiles for %s, and heddle's runtime needs the GNU C library: set HEDDLE_CC to a compiler for x86_64-linux-gnu", b.compiler.Path(), machine)
	}
	return nil
}

// compile compiles every source to an object file, with as many processes as there are processors.
func (b build) compile(ctx context.Context) (objects []string, err error) {
	args := append(flagsFor(Compile, b.compiler.Family),
		"-I", sourceDir+"/include", "-I", sourceDir+"/c",
		// Debuggers look for the source where it will be moved, not where it is built.
		"-ffile-prefix-map="+b.tmp+"="+b.dir)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(goruntime.GOMAXPROCS(0))
	for _, f := range b.files {
		if !f.compiled() {
			continue
		}
		object := objectDir + "/" + f.name + ".o"
		if err := os.MkdirAll(filepath.Join(b.tmp, filepath.Dir(object)), 0o777); err != nil {
			return nil, errors.Join(err, g.Wait())
		}
		objects = append(objects, object)
		g.Go(func() error {
			return b.cc(ctx, append(slices.Clone(args), "-c", sourceDir+"/"+f.name, "-o", object)...)
		})
	}
	return objects, g.Wait()
}

// preinit creates an empty object under the name of one that gcc -fsanitize=thread links into
// executables, so that heddle cc works without ThreadSanitizer installed.
func (b build) preinit(ctx context.Context) error {
	src := filepath.Join(sourceDir, "libtsan_preinit.c")
	if err := os.WriteFile(filepath.Join(b.tmp, src), nil, 0o666); err != nil {
		return err
	}
	return b.cc(ctx, "-c", src, "-o", preinitName)
}

// cc runs the compiler in the build directory, so that its messages have short file names.
func (b build) cc(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, b.compiler.Path(), append(slices.Clone(b.compiler.Command[1:]), args...)...)
	cmd.Dir = b.tmp
	cmd.Env = append(b.compiler.Environ(), "LC_ALL=C", "PWD="+b.tmp)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("heddle's runtime cannot be built with %s, %s (%v):\n%s",
			b.compiler.Path(), b.compiler.Version, err, strings.TrimSpace(limit(out.String())))
	}
	return nil
}

// limit truncates a compiler's cascade of follow-up errors, which would hide the first.
func limit(s string) string {
	lines := strings.SplitAfter(s, "\n")
	const most = 40
	if len(lines) <= most {
		return s
	}
	return strings.Join(lines[:most], "") + fmt.Sprintf("… and %d lines more", len(lines)-most)
}

// syncPath syncs a file or directory to disk, so that a power failure after the rename does not
// leave an empty library under its final name.
func syncPath(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}
