// Package engine closes the loop: it looks for a failing execution of a target, makes
// sure of it, simplifies it and reports.
//
//	explore   rounds of plans from a portfolio of strategies, first over synchronisation
//	          alone, then with racing instructions as scheduling points too; every round
//	          records some executions and adds the instructions that raced in them
//	confirm   the failing execution is run again and recorded, then followed strictly from
//	          its script; only what comes out the same, event by event, is a finding
//	simplify  by execution (internal/simplify/tinertia), and followed strictly again
//
// What is run depends on the options' seed and on outcomes in order, never on time: the
// same seed and build give the same first finding. Time decides only how long it goes on.
//
// The exit status. Which status is right is not known: some good programs exit with 1 or
// 8. So the first execution, under the fair policy, sets what is expected unless the
// options do; another status later is a finding of kind trace.Exit. This is decided here
// and nowhere below. So is whether a race is a failure (Options.RacesFail): races are found
// in recorded executions, which end well as far as the target knows.
package engine
