package schedule

import (
	"fmt"
	"math"

	"github.com/heddle-dev/heddle/internal/abi"
)

// Policy is what the runtime does where no script says otherwise.
type Policy uint8

const (
	Fair   Policy = abi.PolicyFair   // non-preemptive, round robin when a thread blocks, yields or spins
	Random Policy = abi.PolicyRandom // uniform among enabled threads, or mostly staying (Plan.Stay)
	PCT    Policy = abi.PolicyPct    // priorities with change points (Burckhardt et al., ASPLOS'10)
	POS    Policy = abi.PolicyPos    // partial order sampling (Yuan et al., CAV'18)
	Walk   Policy = abi.PolicyWalk   // random by the threads' remaining events (Zhao et al., ASPLOS'25)
	Delay  Policy = abi.PolicyDelay  // Fair, with delays at random points (Emmi et al., POPL'11)
)

// policies has a row per policy.
var policies = [...]struct {
	name string
	// parameters are hd_plan.param0 and param1, 0 if nil.
	parameters func(*Plan) (uint32, uint32)
	// describe returns the parameters that a plan sets, for messages; empty if nil.
	describe func(*Plan) string
}{
	Fair: {name: "fair"},
	Random: {
		name:       "random",
		parameters: func(p *Plan) (uint32, uint32) { return uint32(math.Min(p.Stay, 1) * 65535), 0 },
		describe: func(p *Plan) string {
			if p.Stay > 0 {
				return fmt.Sprintf("stay=%.4f", p.Stay)
			}
			return ""
		},
	},
	PCT: {
		name:       "pct",
		parameters: func(p *Plan) (uint32, uint32) { return uint32(p.Depth), uint32(p.Length) },
		describe:   func(p *Plan) string { return fmt.Sprintf("depth=%d length=%d", p.Depth, p.Length) },
	},
	POS: {name: "pos"},
	Walk: {
		name: "walk",
		describe: func(p *Plan) string {
			if len(p.Interesting) > 0 {
				return fmt.Sprintf("interesting=%d", len(p.Interesting))
			}
			return ""
		},
	},
	Delay: {
		name:       "delay",
		parameters: func(p *Plan) (uint32, uint32) { return uint32(p.Depth), uint32(p.Length) },
		describe:   func(p *Plan) string { return fmt.Sprintf("delays=%d length=%d", p.Depth, p.Length) },
	},
}

func (p Policy) String() string { return policies[p].name }

// ParsePolicy is the inverse of Policy.String.
func ParsePolicy(name string) (Policy, error) {
	for i := range policies {
		if policies[i].name == name {
			return Policy(i), nil
		}
	}
	return 0, fmt.Errorf("unknown policy %q", name)
}

// Parameters returns what the runtime is given besides the number of the policy: hd_plan.param0 and
// param1.
func (p *Plan) Parameters() (uint32, uint32) {
	if f := policies[p.Policy].parameters; f != nil {
		return f(p)
	}
	return 0, 0
}

// DescribePolicy returns the policy's name, its parameters and the number of the plan's holds:
// "pct depth=3 length=120", "pos holds=2".
func (p *Plan) DescribePolicy() string {
	s := p.Policy.String()
	if f := policies[p.Policy].describe; f != nil {
		if words := f(p); words != "" {
			s += " " + words
		}
	}
	if n := len(p.Holds); n > 0 {
		s += fmt.Sprintf(" holds=%d", n)
	}
	return s
}

// CheckWeights returns an error if a plan's weights are not those of its threads, or are too large.
func (p *Plan) CheckWeights() error {
	if n := len(p.Weights); n != 0 && n != len(p.Threads) {
		return fmt.Errorf("the plan has %d weights of %d threads", n, len(p.Threads))
	}
	all := 0
	for _, w := range p.Weights {
		if w < 0 || w > maxCount-all {
			return fmt.Errorf("a weight of %d is out of range", w)
		}
		all += w
	}
	return nil
}
