package result

import (
	"fmt"
	"slices"
	"testing"
)

func TestRaceGroups(t *testing.T) {
	var accessor, members []places
	for i := range 30 {
		accessor = append(accessor, places{object: fmt.Sprintf("block #%d+8", i+1), where: [2]string{"increment counter.h:7", "value counter.h:9"}})
	}
	for i := range 10 {
		members = append(members, places{object: fmt.Sprintf("stats.field%d", i), where: [2]string{fmt.Sprintf("reset stats.c:%d", 20+i), fmt.Sprintf("print stats.c:%d", 40+i)}})
	}
	for _, test := range []struct {
		name  string
		races []places
		sizes []int
		more  string
	}{
		{"an accessor of many objects", accessor, []int{30}, "and 29 more pairs of places"},
		{"members of one variable", members, []int{10}, "and 9 more pairs of places"},
		{"a read and a write of one statement", []places{members[0], members[0]}, []int{2}, ""},
		{"the sides in another order", []places{accessor[0], {object: accessor[0].object, where: [2]string{"value counter.h:9", "increment counter.h:7"}}}, []int{2}, ""},
		{"two variables", []places{members[0], {object: "totals", where: members[0].where}, {object: "totals", where: members[1].where}}, []int{1, 2}, ""},
		{"another function", []places{members[0], {object: "stats.field1", where: [2]string{"reset stats.c:21", "log stats.c:90"}}}, []int{1, 1}, ""},
		{"another verdict", []places{members[0], {object: members[0].object, where: members[0].where, apart: "harmful"}}, []int{1, 1}, ""},
		{"an element and another", []places{{object: "n[0]", where: accessor[0].where}, {object: "n[1]", where: accessor[0].where}}, []int{2}, "and 1 more pair of places"},
		{"blocks allocated elsewhere", []places{
			{object: "block (malloc at x.cc:50, 20 bytes)", where: [2]string{"read x.cc:9", "make x.cc:50"}}, {object: "block (malloc at x.cc:55, 44 bytes)", where: [2]string{"read x.cc:9", "make x.cc:55"}},
		}, []int{1, 1}, ""},
		{"two lambdas", []places{{object: "v.a", where: [2]string{"f x.cc:9", "operator() x.cc:50"}}, {object: "v.b", where: [2]string{"f x.cc:9", "operator() x.cc:55"}}}, []int{1, 1}, ""},
		{"the lines of one statement", []places{{object: "total", where: [2]string{"operator() x.cc:7", "operator() x.cc:8"}}, {object: "total", where: [2]string{"operator() x.cc:7", "operator() x.cc:7"}}}, []int{2}, "and 1 more pair of places"},
		{"statements that are apart", []places{{object: "total", where: [2]string{"operator() x.cc:7", "operator() x.cc:8"}}, {object: "total", where: [2]string{"operator() x.cc:7", "operator() x.cc:17"}}}, []int{1, 1}, ""},
		{"lines of several files", []places{{object: "total", where: [2]string{"operator() x.cc:7", "operator() x.cc:8"}}, {object: "total", where: [2]string{"operator() x.cc:7", "operator() y.cc:7"}}}, []int{1, 1}, ""},
		{"unknown places", []places{{object: "x"}, {object: "x"}}, []int{1, 1}, ""},
		{"two variables of a Go package", []places{
			{object: "main.a", where: [2]string{"main.f m.go:4", "main.g m.go:8"}}, {object: "main.b", where: [2]string{"main.f m.go:5", "main.g m.go:9"}},
		}, []int{1, 1}, ""},
		{"fields of a Go object", []places{
			{object: "(*pool.Pool).n", where: [2]string{"pool.f p.go:4", "pool.g p.go:8"}}, {object: "(*pool.Pool).max", where: [2]string{"pool.f p.go:5", "pool.g p.go:9"}},
		}, []int{2}, "and 1 more pair of places"},
	} {
		var sizes []int
		groups := grouped(test.races)
		for _, g := range groups {
			sizes = append(sizes, len(g))
		}
		if more := morePlaces(test.races, groups[0]); !slices.Equal(sizes, test.sizes) || more != test.more {
			t.Errorf("%s: groups of %v, %q; want %v, %q", test.name, sizes, more, test.sizes, test.more)
		}
	}
}
