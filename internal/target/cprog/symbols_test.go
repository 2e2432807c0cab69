package cprog

import (
	"debug/elf"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/schedule"
)

// allowedImports is all of libc, the loader and the unwinder that the runtime may call. A
// compiler that turns a loop of a hook into a call of memcpy is caught here: it would call
// the interposed one. None of these is called from an access hook.
var allowedImports = strings.Fields(`
	__cxa_atexit __cxa_current_exception_type __cxa_finalize __errno_location __gcc_personality_v0
	__libc_calloc __libc_free __libc_malloc __libc_memalign __libc_realloc
	__pthread_register_cancel __sigsetjmp dl_iterate_phdr dlsym dlvsym getauxval getrlimit stdout
	pthread_attr_destroy pthread_attr_getdetachstate pthread_attr_getstacksize pthread_attr_init
	pthread_attr_setdetachstate pthread_attr_setstack pthread_getspecific pthread_self pthread_setspecific
	_Unwind_Backtrace _Unwind_GetIPInfo _Unwind_Resume __popcountdi2
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
