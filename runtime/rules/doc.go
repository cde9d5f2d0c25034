// Package rules decides whether a call may run now: limits, cooldowns, order,
// exclusive groups, exit requirements, duplicates. It is a pure state machine.
// It has no clock, no I/O and no goroutines; time is an argument, and what a
// session remembers is a value that its events can rebuild.
//
// Compile checks a Config into an Engine, which all sessions share. A State is
// one session. Runs are started and closed in it; calls go through it:
//
//	Admit  ──▶ Commit ──▶ Finish ──▶ (Undo)
//	Ask ──▶ Resume ──▲
//	  any of these before Commit ──▶ Release
//
// Admit judges a call and reserves, in the same step, its slot, its groups, its
// cooldown and its place among equal calls. Commit says that the handler
// starts, Finish how it ended, Release that it never starts. A call that waits
// for consent is entered by Ask, which reserves all but the cooldown, and goes
// on by Resume, which judges it again with its own reservation left out. Check
// and Recheck judge and change nothing. A caller that serves several goroutines
// holds one lock per session over each method.
//
// # Verdicts
//
// Of unknown_tool, call_id_reused, operation_not_allowed, run_finished, exiting
// and the duplicates the first that applies is the only answer. Of
// start_constraint, prerequisite_missing, order_violation, exclusive_group,
// max_calls and cooldown all are collected, in this order. Each Violation
// carries what the caller needs to react, and Unblock names the shortest list of
// calls, waits and consents after which the same call would be admitted.
//
// # What is held for whom
//
// Slots are counted by run, agent and principal: a sub-agent, which is an Agent
// name, has counters of its own. The shared limit of the set is one counter of
// the run, whoever calls. Groups and the successes that order rules look at are
// held by run and principal; exit requirements and the phase by the run, whose
// required tools any principal may satisfy. Cooldowns, equal calls and
// idempotency keys are held by principal, over all runs of the session. The
// cooldown of the set is one timer of all tools, unless CooldownEach is set.
//
// # When it is taken and given back
//
//	                  taken            given back
//	slot              Admit, Ask       Release
//	group             Admit, Ask       Release, Undo, CloseRun
//	cooldown          Admit, Resume    Release; else a period after Finish, whatever the status
//	equal calls       Admit, Ask       Release, Undo, Finish with StatusError; else a window after Finish
//	success           Finish, StatusOK Undo, CloseRun
//
// A timeout gives equal calls back too when its tool is idempotent; an
// idempotency key is given back by Release, Undo and an error alone.
//
// A success holds while any that was not undone remains; a later failure takes
// nothing back. Undo gives back neither slot nor cooldown.
//
// # Runs
//
// A run is running, waiting while a call waits for consent, in clean-up once an
// exit tool has succeeded with required tools open, and finished when none is.
// In clean-up only open required tools run, and what they need and has not
// succeeded: of a list of alternatives as long as none has, and start tools while
// something that may run waits for them. Stop says that
// the model answered without a call: it finishes the run, or counts a reminder,
// or, when those are used up, leaves it incomplete. A run that has ended stays
// so, also when what satisfied it is undone. CloseRun forgets it. Attempts of
// one call are not seen here: a call that is retried is committed once.
//
// # Events
//
// Every method that changes a State returns the Event that records the change
// (nothing is to be recorded when the verdict is not Admitted, or with an
// error). Replay makes the same State of them again, and whatever prefix of
// them was stored gives the answers that the State gave then.
package rules
