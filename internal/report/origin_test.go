package report

import "testing"

func TestOfThreads(t *testing.T) {
	t.Parallel()
	for linkage, want := range map[string]bool{
		"_ZNSt6thread4joinEv":     true,
		"_ZNSt3__16thread4joinEv": true, // libc++
		"_ZNSt28__atomic_futex_unsigned_base19_M_futex_notify_allEPj": true,
		"_ZNSt3_V222condition_variable_anyC1Ev":                       true,
		"_ZNSo5flushEv":                                               false,
		"_ZNSt6localeC1Ev":                                            false,
		"pthread_join":                                                false,
	} {
		if ofThreads(linkage) != want {
			t.Errorf("%s: %v", linkage, !want)
		}
	}
}
