// Package sqlite keeps a journal in a file, by SQLite without cgo: the store of an
// application that runs in one process.
//
//	store, err := sqlite.Open("ambit.db")
//	defer store.Close()
//	err = store.Append(ctx, entries)
//
// The example of this package is that program in full.
//
// # What is promised
//
// When [Store.Append], or any other method that changes something, returns nil,
// the change outlives a crash of the process and of the machine, and all of it
// does or none. After an error of which it is not known what it left behind, of the
// disk, of a full one, of a failed fsync, the store acknowledges nothing more:
// everything is refused with [journal.ErrLost], and the remedy is to close it and
// open it again. Refusals that are known to have changed nothing, such as
// [journal.ErrConflict], leave it as it was. docs/durability.md says what is lost
// when, and has the schema.
//
// # One owner
//
// One process owns a store, by a lock of the operating system that goes when the
// process does, however it ends. Another one is refused with [ErrOwned], or waits:
// [WithWait]. Every owner has an epoch, one more than the last. It is stored with
// the entries and compared whenever something is written, so that a process that
// should have lost the store, because its lock file was removed, writes nothing.
// Before an effect of a tool (runtime.Commit) the stored epoch is compared, too, and
// no other process can take the store over before the effect has ended: [Store.Fence].
//
// Any number of processes read meanwhile: [OpenReader]. They see what has been
// appended, wait for no other process, and never make the owner wait. The lock does
// not work on network file systems, nor does SQLite's shared memory: a store belongs
// on a disk of the machine.
//
// # Files
//
// A store has five more files, with these endings:
//
//	-wal   the write-ahead log: part of the store while it is there
//	-shm   shared memory, worth nothing
//	.lock  who the owner is
//	.fence keeps a successor out while an effect of the owner is under way
//	.keys  the keys, for their owner alone to read
//
// Further endings belong to other packages: .inbox to package inbox, .objects to a
// content store.
//
// A new store is for its owner alone to read, as it holds values that are sensitive.
// A copy of a store is a copy of the file and the -wal, taken while no process owns
// it. The keys are not in it, on purpose.
//
// # Damage
//
// A file that is small, or whose owner did not close it, is checked when it is
// opened; any other where it is read. A [*CorruptError] says which entry is the
// first that cannot be read. Nothing is ever repaired or overwritten: [OpenReader]
// reads what is left. The audit finds an entry whose text was changed while the
// database stayed in order.
package sqlite
