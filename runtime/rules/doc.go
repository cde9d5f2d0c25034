// Package rules decides whether a call may run now: limits, cooldowns, order,
// exclusive groups, exit requirements, duplicates. It is a pure state machine.
// It has no clock, no I/O and no goroutines; time is an argument, and the state of a
// session is a value that its events can rebuild.
//
// Compile checks a Config into an Engine, which all sessions share. A State is
// one session. Runs are started and closed in it; calls go through it:
//
//	Admit  ──▶ Commit ──▶ Finish ──▶ (Undo)
//	Ask ──▶ Resume ──▲
//	  any of these before Commit ──▶ Release
//
// Admit checks a call and reserves, in the same step, its slot, its groups, its
// cooldown and its place among equal calls. Commit records that the handler
// starts, Finish how it ended, Release that it never starts. For a call that waits
// for consent, Ask reserves all but the cooldown, and Resume checks the call again
// with its own reservation left out. Check and Recheck check and change nothing. A
// caller that serves several goroutines holds one lock per session over each method.
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
// a principal in a run, which its sub-agents share (SEMANTICS 4.2). Groups and the successes that order rules check are
// held by run and principal; exit requirements and the phase by the run, whose
// required tools any principal may satisfy. Cooldowns, equal calls and
// idempotency keys are held by principal, over all runs of the session. The
// cooldown of the set is one timer of all tools, unless CooldownEach is set.
//
// # When it is reserved and released
//
//	                  reserved         released
//	slot              Admit, Ask       Release
//	group             Admit, Ask       Release, Undo, CloseRun
//	cooldown          Admit, Resume    Release; else a period after Finish with any status
//	equal calls       Admit, Ask       Release, Undo, Finish with StatusError; else a window after Finish
//	success           Finish, StatusOK Undo, CloseRun
//
// A timeout releases equal calls too when its tool is idempotent; only Release, Undo
// and an error release an idempotency key.
//
// A success holds while one remains that was not undone; a later failure does not
// revoke it. Undo releases neither slot nor cooldown.
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
// (there is nothing to record when the verdict is not Admitted, or with an
// error). Replay rebuilds the same State from the events. From any prefix of them it
// rebuilds the State of that time, which gives the same answers.
//
// # Snapshots
//
// Snapshot returns what the events so far have made, by name, and Restore makes a State
// of it under any Config, so that later events need not be applied to all earlier
// ones. A Snapshot holds what is open. Of calls that have ended it has only numbers:
// the caller keeps each PastCall that Ended returns for as long as a window may hold it
// against an equal call, or it can be undone, and gives them to Restore.
package rules
