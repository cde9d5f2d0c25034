// Package archive moves old entries of a store into a segment, and keeps in the store what goes on.
//
//	done, err := archive.Write(ctx, &archive.Config{Store: store, Verifier: v, Notes: notes, Before: t, To: "archive/1.segment"})
//
// # What is moved
//
// Write takes the entries up to the largest size that a stored and an anchored checkpoint prove, whose last entry is from
// before a time, and below which nothing begins that is open: a call that has not ended or whose outcome is not known, an undo, a
// process without a recorded end. Each session that has not ended and has entries there gets a snapshot first, so that its state, its
// grants, its keys and the ids of its calls stay. A session that has ended leaves with its entries.
//
// # What a crash leaves
//
// The segment gets its name when all of it is on the disk and was proved, and then the store is cut in one transaction. A process
// that ends before that leaves snapshots, which do no harm, and maybe the file: the next Write with the same name takes it over when it
// has the same entries.
package archive
