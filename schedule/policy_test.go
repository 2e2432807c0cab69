package schedule

import (
	"testing"

	"github.com/heddle-dev/heddle/internal/abi"
)

func TestPolicies(t *testing.T) {
	t.Parallel()
	for i := range policies {
		if p, err := ParsePolicy(Policy(i).String()); err != nil || p != Policy(i) {
			t.Errorf("policy %d: %v, %v", i, p, err)
		}
	}
	if _, err := ParsePolicy("none"); err == nil {
		t.Error("no error for an unknown policy")
	}
	for _, test := range []struct {
		plan       Plan
		words      string
		parameters [2]uint32
	}{
		{Plan{Policy: Fair, Stay: 1, Depth: 2, Length: 3}, "fair", [2]uint32{}},
		{Plan{Policy: Random}, "random", [2]uint32{}},
		{Plan{Policy: Random, Stay: 0.5}, "random stay=0.5000", [2]uint32{32767}},
		{Plan{Policy: Random, Stay: 2}, "random stay=2.0000", [2]uint32{65535}},
		{Plan{Policy: PCT, Depth: 3, Length: 120}, "pct depth=3 length=120", [2]uint32{3, 120}},
		{Plan{Policy: abi.PolicyPos}, "pos", [2]uint32{}},
	} {
		a, b := test.plan.Parameters()
		if words := test.plan.DescribePolicy(); words != test.words || [2]uint32{a, b} != test.parameters {
			t.Errorf("%+v: %q, parameters %d %d", test.plan, words, a, b)
		}
	}
}
