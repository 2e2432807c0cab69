package cprog

import (
	"debug/elf"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/internal/testing/need"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// allowedImports is all of libc, the loader and the unwinder that the runtime may call. None
// of these is called from an access hook.
var allowedImports = strings.Fields(`
	__cxa_at_quick_exit __cxa_atexit __cxa_current_exception_type __cxa_finalize __errno_location __gcc_personality_v0
	__libc_calloc __libc_free __libc_malloc __libc_memalign __libc_realloc
	__environ get_phys_pages __pthread_register_cancel __register_atfork __sigsetjmp dirfd dlerror dlvsym environ getauxval getgrouplist on_exit optarg optind optopt __libc_stack_end pthread_attr_setguardsize stderr stdin stdout
	pthread_attr_destroy pthread_attr_getdetachstate pthread_attr_getinheritsched pthread_attr_getschedparam
	pthread_attr_getschedpolicy pthread_attr_getstack pthread_attr_getstacksize pthread_attr_init pthread_attr_setdetachstate
	pthread_attr_setschedparam pthread_attr_setschedpolicy pthread_attr_setstack pthread_attr_setstacksize pthread_getspecific
	posix_spawn_file_actions_adddup2 posix_spawn_file_actions_destroy posix_spawn_file_actions_init
	posix_spawnattr_getflags posix_spawnattr_getsigdefault posix_spawnattr_init posix_spawnattr_setflags posix_spawnattr_setsigmask
	pthread_mutexattr_init pthread_mutexattr_settype pthread_self pthread_setspecific
	_Unwind_Backtrace _Unwind_GetCFA _Unwind_GetGR _Unwind_GetIP _Unwind_GetIPInfo _Unwind_Resume __popcountdi2
	_ITM_deregisterTMCloneTable _ITM_registerTMCloneTable __gmon_start__`)

func TestRuntimeImports(t *testing.T) {
	lib, err := theRuntime()
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(lib)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	imported, err := f.ImportedSymbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range imported {
		if !slices.Contains(allowedImports, s.Name) {
			t.Errorf("the runtime calls %s, which is not on the list", s.Name)
		}
	}
	all, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	exported := 0
	for _, s := range all {
		if s.Section == elf.SHN_UNDEF {
			continue
		}
		exported++
		if strings.HasPrefix(s.Name, "hd_") {
			t.Errorf("the runtime exports %s: its own names must be hidden", s.Name)
		}
	}
	if exported < 200 {
		t.Errorf("only %d functions are stood in for", exported)
	}
	if soname, err := f.DynString(elf.DT_SONAME); err != nil || !slices.Equal(soname, []string{"libtsan.so.2"}) {
		t.Errorf("soname %v %v", soname, err)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_TLS {
			t.Errorf("the runtime has %d bytes of thread-local storage: a fiber switch would change them under it", p.Memsz)
		}
	}
}

func TestPointsVersions(t *testing.T) {
	if abi.PointsVersion != schedule.PointsVersion {
		t.Errorf("the runtime's scheduling points have version %d, schedules %d", abi.PointsVersion, schedule.PointsVersion)
	}
}

// Every call that gcc's ThreadSanitizer pass can make, as its own compiler proper spells
// them, lands in the runtime; so do clang's, whose names are made of the same parts.
func TestEveryHookOfTheCompilers(t *testing.T) {
	lib, err := theRuntime()
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(lib)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	have := map[string]bool{}
	all, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		have[s.Name] = s.Section != elf.SHN_UNDEF
	}
	want := map[string]bool{}
	need.Tool(t, "g++") // cc1plus is its
	for _, part := range []string{"cc1", "cc1plus"} {
		path, err := exec.Command("gcc", "-print-prog-name="+part).Output()
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(strings.TrimSpace(string(path)))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\x00(__tsan_[a-z0-9_]+)`).FindAllSubmatch(b, -1) {
			want[string(m[1])] = true
		}
	}
	if len(want) < 50 {
		t.Fatalf("gcc names only %d hooks", len(want))
	}
	for _, size := range []string{"1", "2", "4", "8", "16"} {
		for _, kind := range []string{"", "unaligned_", "volatile_", "unaligned_volatile_"} {
			want["__tsan_"+kind+"read"+size] = true
			want["__tsan_"+kind+"write"+size] = true
		}
		want["__tsan_read_write"+size] = true
		want["__tsan_unaligned_read_write"+size] = true
	}
	for _, bits := range []string{"8", "16", "32", "64", "128"} {
		for _, op := range strings.Fields("load store exchange fetch_add fetch_sub fetch_and fetch_or fetch_xor fetch_nand compare_exchange_val compare_exchange_strong compare_exchange_weak") {
			want["__tsan_atomic"+bits+"_"+op] = true
		}
	}
	for _, n := range strings.Fields("__tsan_atomic_thread_fence __tsan_atomic_signal_fence __tsan_vptr_read __tsan_vptr_update __tsan_func_entry __tsan_func_exit __tsan_init __tsan_memcpy __tsan_memmove __tsan_memset __tsan_read_range __tsan_write_range heddle_assembly_before heddle_assembly_after") {
		want[n] = true
	}
	for n := range want {
		if !have[n] {
			t.Errorf("the runtime has no %s", n)
		}
	}
}

// Atomics of every width compute what the language says, under control and outside of it.
func TestAtomicsOfEveryWidth(t *testing.T) {
	prog := compile(t, `
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
typedef unsigned __int128 u128;
#define CHECK(T) do { \
  static T v; T e, w = (T)~(T)0; \
  __atomic_store_n(&v, 5, __ATOMIC_SEQ_CST); assert(__atomic_load_n(&v, __ATOMIC_ACQUIRE) == 5); \
  assert(__atomic_exchange_n(&v, w, __ATOMIC_ACQ_REL) == 5); assert(v == w); \
  assert(__atomic_fetch_add(&v, 3, __ATOMIC_RELAXED) == w && v == 2); \
  assert(__atomic_fetch_sub(&v, 3, __ATOMIC_RELAXED) == 2 && v == w); \
  assert(__atomic_fetch_and(&v, 12, __ATOMIC_RELAXED) == w && v == 12); \
  assert(__atomic_fetch_or(&v, 3, __ATOMIC_RELAXED) == 12 && v == 15); \
  assert(__atomic_fetch_xor(&v, 5, __ATOMIC_RELAXED) == 15 && v == 10); \
  assert(__atomic_fetch_nand(&v, 6, __ATOMIC_RELAXED) == 10 && v == (T)~(T)2); \
  e = 1; assert(!__atomic_compare_exchange_n(&v, &e, 7, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) && e == (T)~(T)2); \
  assert(__atomic_compare_exchange_n(&v, &e, (T)(w - 1), 1, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED) && v == (T)(w - 1)); \
} while (0)
static void *run(void *arg) {
  CHECK(uint8_t); CHECK(uint16_t); CHECK(uint32_t); CHECK(uint64_t); CHECK(int8_t); CHECK(int64_t); CHECK(u128);
  __atomic_thread_fence(__ATOMIC_SEQ_CST); __atomic_signal_fence(__ATOMIC_SEQ_CST);
  return arg;
}
int main(void) { pthread_t t; pthread_create(&t, NULL, run, NULL); pthread_join(t, NULL); return 0; }`, "-mcx16")
	tg := start(t, prog)
	o := run(t, tg, schedule.Plan{Policy: schedule.Random, Record: true})
	if o.Ending.Kind != trace.Clean {
		t.Errorf("%v: %s", o.Ending.Kind, o.Ending.Message)
	}
	sizes := map[uint32]int{}
	for _, e := range o.Trace.Events {
		if e.Flags&trace.FlagAtomic != 0 {
			sizes[e.Size]++
		}
	}
	for _, n := range []uint32{1, 2, 4, 8, 16} {
		if sizes[n] < 11 {
			t.Errorf("only %d atomics of %d bytes were scheduling points", sizes[n], n)
		}
	}
	lib, err := theRuntime()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(prog)
	cmd.Env = append(os.Environ(), "LD_PRELOAD="+lib)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("alone: %v\n%s", err, out)
	}
}
