// Package audit makes it evident when a journal was changed.
//
//	signer, err := audit.ReadSigner("audit.key")
//	log, err := audit.New(ctx, store, audit.NewCheckpoints(store), signer,
//		audit.WithAnchor(audit.FileAnchor{Path: "/mnt/elsewhere/ambit.notes"}))
//	exec, err := engine.NewExecutor(reg, policy, engine.WithJournal(log.Journal()))
//	err = exec.Recover(ctx)
//	...
//	err = exec.Shutdown(ctx)
//	err = log.Close(ctx)
//	err = store.Close()
//
// # What is signed
//
// The entries of a journal are the leaves of a Merkle log, as RFC 6962 has it: leaf
// i, from 0, is the exact bytes of Entry.Leaf of the entry with Seq i+1, and its
// hash is SHA-256 of a zero byte and these bytes. Nothing is put into a canonical
// form, now or later.
//
// The index of an entry, the fields At, Kind, Session, Run, Call, Tool and Mark, is
// no part of the hash. It says nothing that the leaf does not say, so Verify
// compares the two. Nor is Private part of it, for that must be erasable: the leaf
// has a commitment to each value (journal.Commit), and Verify compares the values
// that are still there with their commitments.
//
// A [Checkpoint] is the size and the root of that log, signed as a note (package
// golang.org/x/mod/sumdb/note) whose text is that of a C2SP tlog-checkpoint:
//
//	agents.example.com/prod
//	1024
//	CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=
//
//	— agents.example.com/prod Az3grl...
//
// One is made every [Interval] entries, [Delay] after the first entry that has
// none, at the end of each run, and by Close. Besides the signature it holds the
// hashes of its interval, 32 bytes an entry, so that the first bad entry is found
// and not only the interval. They prove nothing by themselves: Verify uses them
// only if the signed root follows from them.
//
// # A Log
//
// A [Log] stands between the executor and the journal. Its Journal appends to the
// inner one and, when that has made the entries durable, adds their hashes to the
// tree, of which only the roots of its complete parts are in memory. That is about
// half a microsecond an entry. Signing, storing and anchoring happen in the
// background and delay no call.
//
// A checkpoint that cannot be signed, stored or anchored stops no call either,
// because the entries themselves are durable. It is reported (WithReport; by
// default to slog) and made up for by the next one, which says all that it would
// have said; there is always another one by Close. An anchor that does not answer
// within 30 seconds has failed; meanwhile no other checkpoint is made. What an
// end without Close leaves unsigned, at most what Interval and Delay allow, is
// signed by the next New.
//
// New continues from the last checkpoint. It refuses with [ErrTampered] when that
// is not signed by the key, when the journal is shorter, or when the entries of the
// last interval differ. It says what it found; nothing is written. A journal that
// has entries and no checkpoint at all is signed as it is, and reported: either the
// audit is new or the checkpoints were removed.
//
// Entries and checkpoints are two things for the Log, so a database holds both
// best: a backup then has both from the same moment.
//
// # Verification
//
// [Verify] reads a journal once, on all processors, and stops at the first
// [Fault]. It finds entries that were edited, deleted, inserted, moved or cut off
// the end, indexes that do not agree with their leaves, and checkpoints that
// another key has signed. Two things it can find only with notes that were
// anchored where the journal's writer cannot change them: that the end was cut off
// together with its checkpoints, and that everything was signed anew with the
// stolen key. Hence the verdict of a log without an anchored note is "not
// anchored", even if nothing is wrong with it.
//
// Entries that were appended after the last checkpoint are not signed yet:
// Report.Unproved counts them.
//
// The fast comparison of the index relies on the order in which journal.Encode
// writes members, and on the tree for the rest of the leaf. Leaves that no
// checkpoint covers are decoded.
package audit
