// Package engine implements the main loop: it searches for a failing execution of a target,
// confirms it, simplifies it and reports it.
//
// # The loop
//
// A strategy (package strategy) decides what to run, workers run it, and the engine connects them:
//
//	strategy ──Next──▶ plans in flight ──▶ workers ──▶ outcomes, in any order
//	   ▲                                                   │
//	   └──Observe── judged, in the order of the plans ◀────┘
//
// A search has four steps:
//
//	explore   (find, explore, flight, worker, look) The first execution runs alone, under the
//	          fair policy, and sets the expected exit status. Then the strategy makes plans, up to
//	          strategy.Window ahead of the outcomes it has observed. Workers take them in order.
//	          The engine holds an outcome back until those of all earlier plans have arrived, then
//	          judges and counts it and shows it to the strategy, whose next plans may depend on
//	          it. The first failure ends the exploration.
//	confirm   (confirm) The engine runs the failing execution again and records it, then replays the
//	          recording strictly. A failure is a finding only if the replay matches event by event;
//	          otherwise the exploration continues where it stopped.
//	simplify  (simplify) Reorders independent operations (internal/simplify/static), removes context
//	          switches by running candidates (internal/simplify/tinertia), and replays the result
//	          strictly.
//	explain   (report, races, leaks) The report contains the finding, races and leaks seen besides,
//	          and an estimate of the unseen behaviours (behaviours).
//
// Replay, ReplayElsewhere, ReplaySchedule, Follow, Record and Simplify do single steps for commands
// that start from a trace or a schedule.
//
// # Determinism
//
// Plans depend only on the options' seed and on outcomes in order, never on time, on the number of
// workers, or on which of them was faster: the same seed and build give the same first finding.
// Time only bounds the search. The engine does not assume that workers run in this process or on
// this machine: a Job and its outcomes are data (schedule.Plan and schedule.Outcome marshal), and
// the tag of a result identifies its plan.
//
// # The exit status
//
// The correct exit status is not known in advance: some correct programs exit with 1 or 8. So the
// first execution that ends normally sets the expected status unless the options do; a different
// status later is a finding of kind trace.Exit. Only the engine decides this. It also decides
// whether a race is a failure (Options.Races): to the target, an execution with a race ends
// normally.
package engine
