// Package undo runs undo handlers. An undo handler runs like the handler of a call
// (docs/semantics.md section 6.4): with a deadline, under a fence, and in one transaction over the
// participants, which is rolled back when the handler fails.
//
// [Handlers.Run] runs one and returns why the call was not undone, nil when it was. The intent to
// run is durable before the handler starts, and the decision to commit before anything is committed;
// a [Recorder] writes both. A commit that was decided is not taken back: when it takes longer than
// the grace period, Run returns a [Fault] that is pending, and the recorder is told how it ended.
package undo
