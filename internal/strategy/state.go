package strategy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/schedule"
)

// stateVersion is the version of saved states. It is raised whenever an older reader would continue
// with a different search than the one saved.
const stateVersion = 5

// ErrState wraps every error of Restore.
var ErrState = errors.New("the saved search cannot be continued")

// InFlight is a plan that has executions left to observe.
type InFlight struct {
	Request Request
	// Observed is how many of its executions have been observed.
	Observed int
}

// saved is a saved state, as JSON.
type saved struct {
	Heddle   string        `json:"heddle"` // always "search"
	Version  int           `json:"version"`
	Points   int           `json:"pointsVersion"`
	Strategy string        `json:"strategy"`
	Setting  Setting       `json:"setting"`
	InFlight []savedFlight `json:"inFlight,omitempty"`
	State    []byte        `json:"state"`
}

type savedFlight struct {
	savedRequest
	Observed int `json:"observed"`
}

type savedRequest struct {
	Plan    []byte `json:"plan"` // schedule.Plan.MarshalBinary
	Observe bool   `json:"observe,omitempty"`
	Key     int    `json:"key"`
}

func saveRequest(r *Request) (savedRequest, error) {
	plan, err := r.Plan.MarshalBinary()
	return savedRequest{plan, r.Observe, r.Key}, err
}

func (s *savedRequest) request() (r Request, err error) {
	r = Request{Observe: s.Observe, Key: s.Key}
	return r, r.Plan.UnmarshalBinary(s.Plan)
}

// Save returns all that is needed to continue a search: the strategy's state, the plans in flight,
// and what a reader must match.
func Save(s Strategy, setting Setting, flight []InFlight) ([]byte, error) {
	state, err := s.MarshalBinary()
	if err != nil {
		return nil, err
	}
	out := saved{Heddle: "search", Version: stateVersion, Points: schedule.PointsVersion, Strategy: s.String(), Setting: setting, State: state}
	for i := range flight {
		r, err := saveRequest(&flight[i].Request)
		if err != nil {
			return nil, err
		}
		out.InFlight = append(out.InFlight, savedFlight{r, flight[i].Observed})
	}
	return json.Marshal(out)
}

// Restore loads a saved state into a fresh strategy made with the same setting, and returns the
// plans that were in flight. They must run again before Next is called for others. It fails, with
// an ErrState, if the state was saved by another version or for another program, setting or
// strategy, or is damaged.
func Restore(data []byte, s Strategy, setting Setting) ([]InFlight, error) {
	flight, err := restore(data, s, setting)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrState, err)
	}
	return flight, nil
}

func restore(data []byte, s Strategy, setting Setting) (flight []InFlight, err error) {
	var in saved
	if err := strict(data, &in); err != nil {
		return nil, err
	}
	is, err := json.Marshal(setting)
	if err != nil {
		return nil, err
	}
	was, err := json.Marshal(in.Setting)
	if err != nil {
		return nil, err
	}
	changed, err := Changed(was, is)
	if err != nil {
		return nil, err
	}
	switch {
	case in.Heddle != "search" || in.Version != stateVersion:
		return nil, fmt.Errorf("it is version %d of %q, and this heddle continues version %d of \"search\": start the search again", in.Version, in.Heddle, stateVersion)
	case in.Points != schedule.PointsVersion:
		return nil, fmt.Errorf("it was saved under version %d of scheduling points, and this heddle has version %d: start the search again", in.Points, schedule.PointsVersion)
	case in.Setting.Build != setting.Build:
		return nil, fmt.Errorf("it is a search of build %s, and this is build %s: use the program it was started with", in.Setting.Build, setting.Build)
	case in.Strategy != s.String():
		return nil, fmt.Errorf("it was made by %q, and not by %q: give the same strategies", in.Strategy, s)
	case changed != "":
		return nil, fmt.Errorf("it was started with other options (%s): give the same ones", changed)
	}
	for i := range in.InFlight {
		f := InFlight{Observed: in.InFlight[i].Observed}
		if f.Request, err = in.InFlight[i].request(); err != nil {
			return nil, err
		}
		if f.Observed < 0 || f.Observed >= max(1, f.Request.Plan.Repeat) {
			return nil, fmt.Errorf("%d of %d executions of a plan have been observed, and it is in flight", f.Observed, f.Request.Plan.Repeat)
		}
		flight = append(flight, f)
	}
	return flight, s.UnmarshalBinary(in.State)
}

// Changed returns the members of a JSON object that differ in another one, as "Seed 1, now 2", in
// alphabetical order, for a message.
func Changed(was, is []byte) (string, error) {
	var before, now map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(was, &before), json.Unmarshal(is, &now)); err != nil {
		return "", err
	}
	var changed []string
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if !bytes.Equal(before[name], now[name]) {
			changed = append(changed, fmt.Sprintf("%s %s, now %s", name, before[name], now[name]))
		}
	}
	return strings.Join(changed, "; "), nil
}

// strict reads one JSON value. Unknown fields are an error.
func strict(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if d.More() {
		return errors.New("data follows its end")
	}
	return nil
}
