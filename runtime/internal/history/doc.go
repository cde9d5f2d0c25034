// Package history reads a journal back: [Read] folds its entries into the sessions, calls and
// requests for consent that an executor continues after a restart. [ReadSession] reads one session, from its latest
// snapshot on: what it says is what [Read] says of that session, with the calls that had ended by then by reference. [Load]
// reads one for memory, which has all calls that have ended by reference.
//
// It also encodes the outcomes and decisions of calls as records hold them ([EncodeOutcome],
// [EncodeDecision]) and decodes them again, so that both directions of the recorded form are in one
// place.
//
// The package takes values and returns values. It settles no call, starts nothing, and has no
// locks: a History belongs to its caller.
package history
