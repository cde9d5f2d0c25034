// Package segment keeps archived entries of a journal in files.
//
//	info, err := segment.Write(ctx, "archive/1-4096.segment", header, store)
//
//	file, err := segment.Open("archive/1-4096.segment")
//	err = file.Prove(ctx)                     // its entries have the root that its header names
//	err = file.Signed(verifier)               // which the key of the audit log has signed
//	joined, err := segment.Join(store, file)  // reads entries of the file, and of the store what it has not
//
// A segment has the leaves of a range of entries, compressed, and the signed checkpoint of its last
// one. docs/segments.md describes the format. The index of an entry is read from its leaf. Private
// values are in no segment: an entry that is read from one has none.
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
// Write makes the file under another name, NAME.part, and gives it its own when all of it is on the
// disk and proved. A process that ends before leaves the part, which the next Write replaces.
package segment
