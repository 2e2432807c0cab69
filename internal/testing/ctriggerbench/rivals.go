package main

import (
	"context"
	"fmt"
	"time"

	"github.com/heddle-dev/heddle/internal/analysis/atomicity"
	"github.com/heddle-dev/heddle/internal/target/live"
)

// The methods, as the tables name them.
const (
	methodStress     = "stress"        // the program without hooks, over and over
	methodHooks      = "hooks only"    // with hooks that do nothing
	methodDelay      = "delays"        // at synchronisation operations
	methodRaces      = "race-directed" // suspends threads before the accesses of possible races
	methodLive       = "live"          // CTrigger with threads in parallel
	methodControlled = "controlled"    // CTrigger on heddle's scheduler
)

var methods = []string{methodStress, methodHooks, methodDelay, methodRaces, methodLive, methodControlled}

const (
	// budget, and suspend for methodRaces, are those of heddle atomicity --backend=live.
	budget = 20
	pass   = time.Millisecond
	// longestDelay is that of methodDelay.
	longestDelay = 10 * time.Millisecond
	// recorded bounds the events of a thread in a recording.
	recorded = 4_000_000
	// leastProfile, mostProfile and quietProfile bound the recordings of methodRaces as those of CTrigger.
	leastProfile, mostProfile, quietProfile = 3, 16, 2
)

// exposure is how soon a method makes a program fail.
type exposure struct {
	Method   string `json:"method"`
	Searches int    `json:"searches"` // with different seeds
	Exposed  int    `json:"exposed"`  // searches in which an execution failed
	// Seconds and Executions are those until the failure, by search; without one, all that it took.
	Seconds    []float64 `json:"seconds"`
	Executions []int     `json:"executions"`
	// Failure describes the first failure. Without one, Why may say why.
	Failure string `json:"failure,omitempty"`
	Why     string `json:"why,omitempty"`
	// Again is the attempt to reproduce the failure.
	Again again `json:"again"`
}

// again are executions that a method makes, after one has failed, to make another fail.
type again struct {
	Executions int     `json:"executions"`
	Failures   int     `json:"failures"`
	Seconds    float64 `json:"seconds"` // of all of them
}

// each returns the mean seconds until an execution fails; 0 if none has.
func (a *again) each() float64 {
	if a.Failures == 0 {
		return 0
	}
	return a.Seconds / float64(a.Failures)
}

func (x *exposure) add(exposed bool, seconds float64, executions int, failure string) {
	x.Searches++
	if exposed {
		if x.Exposed++; x.Exposed == 1 {
			x.Failure = failure
		}
	}
	x.Seconds, x.Executions = append(x.Seconds, seconds), append(x.Executions, executions)
}

// measurement measures one program.
type measurement struct {
	settings
	*built
	undisturbed time.Duration // of an execution with hooks
}

// calibrate measures an execution that is left alone.
func (m *measurement) calibrate(ctx context.Context) error {
	for range 3 {
		r, err := m.hooked.Run(ctx, live.Request{Hooks: true, Limit: time.Minute, Idle: 5 * time.Second})
		if err != nil {
			return err
		}
		if !r.Failed(0) {
			m.undisturbed = max(m.undisturbed, time.Duration(r.Seconds*float64(time.Second)))
		}
	}
	if m.undisturbed == 0 {
		return fmt.Errorf("every execution fails, so there is nothing to compare: %s", "choose another -work")
	}
	return nil
}

// idle is how long an execution may use no processor time: threads that wait longer wait for each other.
func (m *measurement) idle() time.Duration { return 2*m.undisturbed + time.Second }

// suspend is how long methodRaces suspends a thread at most.
func (m *measurement) suspend() time.Duration {
	return min(max(2*m.undisturbed, 2*time.Millisecond), 50*time.Millisecond)
}

// request completes a request for an execution.
func (m *measurement) request(q live.Request) live.Request {
	q.Idle = m.idle() + 2*q.Suspend
	q.Limit = 10*m.undisturbed + 3*time.Second + time.Duration(q.Budget)*q.Suspend
	return q
}

// rivals measures the methods of Table 3 other than CTrigger.
func (m *measurement) rivals(ctx context.Context) (out []exposure, err error) {
	for _, method := range []struct {
		name string
		// execute makes the execution with a number; for a number that failed it does the same again, as far
		// as the method can. With none it is nil.
		execute  func(ctx context.Context, n int) (*live.Result, error)
		controls bool // the method says what to do again
	}{
		{methodStress, func(ctx context.Context, _ int) (*live.Result, error) {
			return m.native.Alone(ctx, 10*m.undisturbed+3*time.Second, m.idle())
		}, false},
		{methodHooks, func(ctx context.Context, _ int) (*live.Result, error) {
			return m.hooked.Run(ctx, m.request(live.Request{Hooks: true}))
		}, false},
		{methodDelay, func(ctx context.Context, n int) (*live.Result, error) {
			return m.hooked.Run(ctx, m.request(live.Request{Mode: live.Delay, Seed: uint64(n), Suspend: longestDelay}))
		}, true},
	} {
		x := exposure{Method: method.name}
		if err := m.rival(ctx, &x, time.Now(), 0, method.execute, method.controls); err != nil {
			return nil, fmt.Errorf("%s: %w", method.name, err)
		}
		out = append(out, x)
	}
	x, err := m.races(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", methodRaces, err)
	}
	return append(out, x), nil
}

// rival executes the program until an execution fails, and then until another does. made executions
// have been made since began.
func (m *measurement) rival(ctx context.Context, x *exposure, began time.Time, made int, execute func(context.Context, int) (*live.Result, error), controls bool) error {
	failed := -1
	for n := 0; failed < 0 && time.Since(began) < m.Limit; n++ {
		r, err := execute(ctx, n)
		if err != nil {
			return err
		}
		made++
		if fails(r) {
			failed = n
			x.add(true, time.Since(began).Seconds(), made, r.Describe())
		}
	}
	if failed < 0 {
		x.add(false, time.Since(began).Seconds(), made, "")
		return nil
	}
	// A method that controls nothing can only search again.
	began = time.Now()
	for n := 1; time.Since(began) < m.Limit && (!controls || x.Again.Executions < m.Replays); n++ {
		next := failed
		if !controls {
			next += n
		}
		r, err := execute(ctx, next)
		if err != nil {
			return err
		}
		x.Again.Executions++
		if fails(r) {
			x.Again.Failures++
		}
	}
	x.Again.Seconds = time.Since(began).Seconds()
	return nil
}

// fails reports whether an execution failed. One that only took long did not.
func fails(r *live.Result) bool { return r.Failed(0) && !r.Expired }

// races is methodRaces: recordings, as CTrigger's, say which accesses no lock and no creation or join
// keeps apart, as a lockset analysis does; then a thread is suspended before one of the two, and
// goes on when another has done the other.
func (m *measurement) races(ctx context.Context) (x exposure, err error) {
	x.Method = methodRaces
	began := time.Now()
	profile := atomicity.NewProfile()
	made := 0
	for seen, quiet := 0, 0; made < leastProfile || quiet < quietProfile && made < mostProfile; made++ {
		r, err := m.hooked.Run(ctx, m.request(live.Request{Mode: live.Profile, Seed: uint64(made), Most: recorded}))
		if err != nil {
			return x, err
		}
		profile.Add(r.Trace, r.Times)
		if quiet++; len(profile.Unordered()) > seen {
			seen, quiet = len(profile.Unordered()), 0
		}
	}
	var targets []live.Target
	for _, pair := range profile.Unordered() {
		a, b := pair[0].Site, pair[1].Site
		targets = append(targets, live.Target{C: a, R: b, ThreadC: -1, ThreadR: -1})
		if a != b {
			targets = append(targets, live.Target{C: b, R: a, ThreadC: -1, ThreadR: -1})
		}
	}
	if len(targets) == 0 {
		x.Why = "no possible race"
		x.add(false, time.Since(began).Seconds(), made, "")
		return x, nil
	}
	return x, m.rival(ctx, &x, began, made, func(ctx context.Context, n int) (*live.Result, error) {
		return m.hooked.Run(ctx, m.request(live.Request{
			Mode: live.Force, Seed: uint64(n), Targets: targets[n%len(targets) : n%len(targets)+1], Suspend: m.suspend(), Pass: pass, Budget: budget,
		}))
	}, true)
}
