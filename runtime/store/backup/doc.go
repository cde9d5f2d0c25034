// Package backup copies a store that is in use into one file, and puts such a file back.
//
//	entries, err := backup.Write(ctx, "ambit-monday.backup", backup.Source{Store: "var/ambit.db"})
//	record, err := backup.Restore(ctx, "ambit-monday.backup", "var/ambit.db", backup.Target{...})
//
// # What is in a backup
//
// A backup is a tar archive with these files, in this order:
//
//	store            the store: the journal, requests, grants, the values of runtime/state, checkpoints
//	keys             its keys file, with a head that the store has reached
//	anchor           the notes beside the store, if they are there, as they were before the store was copied
//	audit.pub        what verifies its audit log, if it is there
//	objects/SHA256   the contents: artifacts, and what files were before a call changed them
//	manifest.json    the number of entries, and the size and SHA-256 of each file before it
//
// The key that signs the audit log is not in it, and neither are the files of a workspace, its logs
// of calls that have not ended, commands in the inbox and the policies. The keys are: a process
// that can read a backup can forge entries of the store, so the file is for its owner alone to read.
//
// A content that is not what its name says, such as one that is being written, is left out: what
// the journal refers to was whole before.
//
// # What a crash leaves
//
// Write makes FILE under its name when all of it is on the disk and verified, and Restore gives the
// store its name last. A process that ends before leaves the directories FILE.part-* and
// STORE.restoring, which the next call removes.
//
// The hashes of the manifest find a file that was damaged or cut. They prove nothing about a
// process that can write the backup, and neither do the keys that are in it: that takes the anchored notes, with
// which Restore compares the store.
package backup
