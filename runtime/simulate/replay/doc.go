// Package replay runs recorded sessions against other rules and policies than
// those that they were recorded with, and reports where these decide otherwise.
// "ambit replay" runs this package.
//
//	report, err := replay.Run(ctx, store, &replay.Candidate{
//		Declaration: file,
//		Policy:      func(reg *runtime.Registry) (runtime.Policy, error) { return opa.Load(candidate, reg) },
//	})
//	for _, run := range report.Runs {
//		fmt.Println(run.Run, run.Divergence)
//	}
//
// The example of this package is that program in full.
//
// # What is run
//
// The recording is played, record by record, through a engine.Executor of the
// candidate, on a clock that shows the recorded time. A call is made when it was
// made, with the arguments, the turn's end, the principal and the sub-agent that it
// had; it is judged when it was judged, in the recorded order; its handler starts
// when the recorded one did. Each answer of an approver is given at the same time, by
// the same id, to the request of the same call. Runs are started, stopped and
// closed, sessions configured, grants revoked, consent switched off, calls given up
// and undone as they were.
//
// Where another executor has taken the journal over, the present one ends as if its
// process was killed, and a new one recovers what the replay has recorded so far:
// its recovery judges calls again, runs them again, rolls them back or leaves them
// unknown. A process that was killed in its recovery recovers only the calls that it
// reached. Each executor has the minimum budget and the reminders of the recorded one.
//
// No handler is run and nothing is written. A stand-in returns when the handler
// did: with its output, with an error if it failed, or not before the call was
// given up. All attempts of a call that one process has made are one. A deadline of
// the candidate that is shorter than the handler took ends the call. A recording does
// not say how long a call that had timed out would have taken: in the replay it times
// out when it did.
//
// # What is compared
//
// Of each call, whether it is let run, asked about, denied or a duplicate; if it is
// denied, all reasons and the rules of the policy; if it is asked about, the rules
// that ask; if it runs, whether it completes, times out, or fails. Messages,
// details, revisions and the state of the run are not compared, nor how a handler
// failed, which does not depend on the candidate. Of an undo, whether it is allowed.
//
// A call that is denied as it was, or asked about as it was, for other reasons or by
// other rules, changes nothing for the calls after it: it is named (RunReport.Otherwise).
// The first other difference of a run is its Divergence. From there on the run would have
// gone another way: the model would have received another result. The replay goes on
// with the rest of the run, since the runs of a session share cooldowns, repeated calls
// and grants, but does not judge it (RunReport.After). Another run of the session is
// judged, and its report says that one had diverged before (RunReport.AfterRun).
//
// # Each call by itself
//
// With Candidate.Each a difference ends no comparison. Each call is let do what it did, and the candidate is asked about it
// beside that (engine.Turn.WhatIf): on the state that the recording has made before it. So a call that the candidate denies still counts
// for the rules of later ones, and one that it newly allows does not. RunReport.Divergence is the first difference,
// RunReport.Further the others. An approved call is not judged again, nor is an edit. A call of a tool that the candidate does not
// have is not made: the calls after it are judged without it.
//
// Calls from before Candidate.Since are let do what they did in the same way, and are neither judged nor counted.
//
// # Calls without a result
//
// A call that the candidate lets run and that did not run when it was recorded has
// no recorded result. It fails, so that a success that was not recorded does not
// satisfy the rules of other calls.
//
// # What cannot be replayed
//
// Some calls are listed as not replayable, each with the reason:
//
//   - The input was not valid, or its id was another call's: it is not recorded.
//     The same holds of a tool that was not known and is now.
//   - Values marked x-sensitive were erased, or are not part of an export. If the
//     call was let run, the replay lets it run again, even if the policy would deny
//     it, so that the rules that count it stay right; if the rules refuse that, the
//     rest of the run is not replayable either.
//   - It was refused for what no rule decides: a shutdown, a journal that could not
//     be written, a policy that was too slow.
//   - Its process ended before its input was recorded.
//   - It has no outcome, or is part of a run whose beginning is missing.
//
// # What is replayed approximately
//
//   - Which calls were of one turn is recorded by the turn's end alone. A tool that
//     timed out blocks those calls that it blocked then.
//   - The order of calls is the recorded one. Which calls of a batch wait for other
//     calls depends on the rules; a candidate might have let them wait longer.
//   - What left no record is not played: undos that were rejected, answers that
//     were rejected for their terms or their edits, closing a sub-agent without
//     calls. The reloads of a policy are not either: the candidate is one policy.
//   - A recording does not say when recovery judged a call once more whose handler it
//     runs again: its place in the queue for a slot follows from the later records.
//   - A call that was interrupted by the end of its process before its handler was
//     started counts as cancelled.
//   - An approved call waits for a slot until the end of its turn, or for as long as
//     its deadline when its caller had been told that it was pending. A recording does
//     not say which: that such a call waited for too long is no divergence.
//   - A call that waited to be run again after a restart and did not is cancelled when
//     its wait ended.
//
// All sessions of a recording are played together, since they share the limits of
// concurrency; a Report can be narrowed down with Report.Only. The whole recording
// is held in memory.
package replay
