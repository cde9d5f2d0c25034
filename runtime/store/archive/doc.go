// Package archive moves old entries of a store into files, segments, and reads them there. It links no SQLite: a [Store] has what it needs of one.
//
//	done, err := archive.Write(ctx, &archive.Config{Store: store, Verifier: v, Notes: notes, Before: t, To: "archive/1.segment"})
//
//	file, err := archive.Open("archive/1.segment")
//	err = file.Prove(ctx)                     // its entries have the root that its header names
//	err = file.Signed(verifier)               // which the key of the audit log has signed
//	joined, err := archive.Join(store, file)  // reads entries of the file, and of the store what it has not
//
// A segment has the leaves of a range of entries, compressed, and the signed checkpoint of its last
// one. docs/segments.md describes the format. The index of an entry is read from its leaf. Private
// values are in no segment: an entry that is read from one has none.
//
// # What is moved
//
// Write takes the entries up to the largest size that a stored and an anchored checkpoint prove, whose last entry is from
// before a time, and below which nothing begins that is open: a call that has not ended or whose outcome is not known, an undo, a
// process without a recorded end. Each session that has not ended and has entries there gets a snapshot first, so that its state, its
// grants, its keys and the ids of its calls stay. A session that has ended leaves with its entries.
//
// # What a reader may rely on
//
// A segment is hostile until it is proved. Open compares a digest of the header and the index,
// and Read the digest of each group of entries, so that a damaged file is found where it is
// damaged. A process that can write the file can write the digests too. Prove finds that as far as the
// header goes, and Signed that the header is not made up; [Join] compares the entries with those that
// the store still has. No file makes Open or Read use more than about 256 MiB.
//
// # What a crash leaves
//
// WriteFile makes the file under another name, NAME.part, and gives it its own when all of it is on the
// disk and proved. A process that ends before leaves the part, which the next one replaces. Write cuts the store after that, in
// one transaction. A process that ends between the two leaves snapshots, which do no harm, and the file: the next Write with
// the same name takes it over when it has the same entries.
package archive
