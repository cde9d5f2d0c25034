// Package inbox takes commands of other processes to the executor of a store: to
// answer a request for consent, to undo, cancel or resolve a call, to revoke a
// grant. It is what "ambit approvals approve" and its like are made of.
//
//	store, err := sqlite.Open("ambit.db")
//	exec, err := engine.NewExecutor(reg, policy, engine.WithJournal(store), engine.WithPendingRequests())
//	err = exec.Recover(ctx)
//	in, err := inbox.Serve(ctx, store, exec) // after Recover
//	...
//	err = in.Close(ctx) // before exec.Shutdown
//
// # How a command travels
//
// No other process writes the store: a second writer would keep the first one
// waiting. [Put] makes one file for each command, in the directory of the store's
// name with .inbox behind it; the file gets its name when all of it is on disk, so
// that no process sees half a command or has to wait for a lock. [Serve] lets the
// operating system watch the directory. It imports what it finds in the order in
// which it was put ([Import]), and removes the file once the
// result is in the journal, where the process that put the command finds it. A
// command that takes long does not keep the next ones waiting for more than a second.
//
// Serve also looks into the directory every 4 seconds, and every second where the system does not
// watch it: events of a network file system do not come
// from other machines, a system that watches too much refuses one more watch, and it drops events
// that nothing takes. No event is believed to say what has happened. After each, Serve looks at the
// whole directory, of which it makes sure first that it is the one of that name and not open to
// all users. A directory that was replaced is served, one that is gone is served when it is there again.
//
// While no executor serves the inbox, which [Served] tells, commands wait for the
// next one. Each is carried out at most once, however often anything crashes: its
// nonce is in the journal before anything is done.
//
// # What a signature proves
//
// A command is signed (HMAC-SHA256) with a key that is stored with the store and
// that its owner alone can read, and says on whose behalf it is: the user of the
// operating system who ran [Put]. So the process that signed can read the keys of the
// store; and a process that can do that could sign for other users. On systems where
// files have owners the import therefore also requires the file to belong to the user
// that the command names, which only the superuser can forge. On Windows there is no
// such check: there the name is as trustworthy as the processes of the user that
// runs the executor.
//
// What is not signed, names another user than the owner of its file, is longer
// than [MaxCommand] or is of an unknown version is reported, removed and never
// carried out.
//
// The name of the user is what approvers in a declaration are compared with:
// approvers [alice] is met by the user alice, and a call that is made on behalf of
// the principal alice cannot be approved by her. Where people have other ids
// there, [WithIdentity] translates.
package inbox
