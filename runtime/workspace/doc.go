// Package workspace is how tools read and write files: within one directory, in
// the transaction of their call, under its fence.
//
//	store, err := content.Open("state/content")
//	ws, err := workspace.Open("project", store)
//	exec, err := engine.NewExecutor(registry, policy, engine.WithParticipant("files", ws))
//
// A handler passes on the context that it got:
//
//	text, err := ws.ReadFile(ctx, "notes/a.md")
//	err = ws.WriteFile(ctx, "notes/a.md", text, 0o644)
//
// # Paths
//
// Paths are relative, with slashes, and clean: no "..", no "." within, no NUL.
// Links are followed where files are read, as long as they stay in the directory
// (os.Root sees to it); where files are written there may be no link on the way.
// The repository of the user, .git, and files that make programs run what is in them
// (DefaultProtected) are not written, under any spelling of their paths; Protect and
// Unprotect change which.
//
// # Writes
//
// A write replaces a file as a whole. Before, what it replaces is in the content
// store, and what is about to be done is in the undo log of the call, both
// durably; the new content is, too. Only the rename happens under the fence of
// the call (runtime.Commit): once the call has its outcome there is none.
//
// A file keeps its mode, a new one has exactly the one that is asked for. A call
// does not write what another one has written that has not ended: ErrBusy.
//
// # Transactions
//
// Begin, then Seal and Commit, or Rollback: the executor does that for each call.
// A rollback restores contents, modes and directories, to the byte, but no times,
// owners or extended attributes. What another writer has changed since is left
// alone and named by a DriftError.
//
// After a crash Unsettled tells which calls are neither committed nor rolled
// back, and Settle does one or the other. That is to happen before tools run.
//
// Once a sync has failed nothing can be promised: every write fails with
// ErrBroken until the workspace is opened anew, and the calls are settled then.
//
// # Undo
//
// A prepare handler returns ws.Snapshot(ctx, paths...), which keeps the contents
// and is small; the undo handler gives it to ws.Restore, with what the call has
// left, which refuses where the files were changed since. An undo handler
// has a transaction as a handler has. Diff shows what a write would change, for a
// preview.
//
// # What goes around it
//
// Nothing keeps code in this process from package os. Scan before and after a
// call, and Manifest.Compare, find what was written without the workspace.
package workspace
