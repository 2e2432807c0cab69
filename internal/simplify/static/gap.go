package static

import "fmt"

// Gap is the distance of a number of switches from the fewest possible with the same dependences.
type Gap struct {
	Switches int  `json:"switches"`
	Lower    int  `json:"lower"` // no order has fewer
	Exact    bool `json:"exact"` // an order with Lower exists
}

// GapOf compares a number of switches with the known bounds on the fewest.
func GapOf(switches int, b Best) Gap {
	return Gap{Switches: switches, Lower: b.Lower, Exact: b.Exact || switches == b.Lower}
}

func (g Gap) String() string {
	switch above := g.Switches - g.Lower; {
	case above == 0:
		return "optimal"
	case g.Exact:
		return fmt.Sprintf("%d above the fewest possible, %d", above, g.Lower)
	default:
		return fmt.Sprintf("not known: at most %d above the fewest possible, which is %d or more", above, g.Lower)
	}
}
