// Package engine closes the loop: it looks for a failing execution of a target, makes sure of it,
// simplifies it and reports it.
//
// # The loop
//
// A strategy (package strategy) decides what to run, workers run it, and the engine stands between
// them:
//
//	strategy ──Next──▶ plans in flight ──▶ workers ──▶ outcomes, in any order
//	   ▲                                                   │
//	   └──Observe── judged, in the order of the plans ◀────┘
//
// It goes through four steps, a file or two for each:
//
//	explore   (find, explore, flight, worker, look) The first execution is left alone: it runs
//	          under the fair policy, and decides what is expected of the others. Then the strategy
//	          makes plans, up to strategy.Window ahead of the outcomes it has seen. Workers take
//	          them in order. An outcome waits until those of all earlier plans are there; then it
//	          is judged, counted, and shown to the strategy, whose next plans may depend on it.
//	          The first one that failed ends the exploration.
//	confirm   (confirm) The failing execution is run again and recorded, then followed strictly
//	          from its script. Only what comes out the same, event by event, is a finding; else
//	          the exploration goes on where it was.
//	simplify  (simplify) Independent operations are reordered (internal/simplify/static), context
//	          switches removed by execution (internal/simplify/tinertia), and the result is
//	          followed strictly again.
//	explain   (report, races, leaks) The report says what was found, what was seen besides, and
//	          what is still unseen (behaviours).
//
// Replay, ReplayElsewhere, ReplaySchedule, Follow, Record and Simplify do single steps for commands that have a
// trace already.
//
// # Determinism
//
// What is run depends on the options' seed and on outcomes in order, never on time, on the number
// of workers, or on which of them was faster: the same seed and build give the same first finding.
// Time decides only how long it goes on. The engine does not assume that workers are in this
// process, or on this machine: a Job and its outcomes are data (schedule.Plan and
// schedule.Outcome marshal), and results are told apart by tag.
//
// # The exit status
//
// Which status is right is not known: some good programs exit with 1 or 8. So the first execution
// sets what is expected unless the options do; another status later is a finding of kind
// trace.Exit. This is decided here and nowhere below. So is whether a race is a failure
// (Options.RacesFail): races are found in recorded executions, which end well as far as the target
// knows.
package engine
