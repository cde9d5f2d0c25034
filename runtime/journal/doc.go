// Package journal defines what a journal of calls is: the one append-only list of
// facts from which everything that lasts is made. The audit trail is the same
// list, so that what recovery reads and what an auditor reads cannot differ.
//
// An Entry is one fact as it is stored. Its Leaf, the exact bytes of a Record, is
// never changed and never read in any other form; the other fields are an index
// to it. What may have to be erased one day, the values of members that are
// marked x-sensitive, is in Private: the leaf has commitments to them.
//
// A Journal stores entries. Memory keeps them in memory, for tests and for
// programs that need no durability; runtime/store/sqlite keeps them in a file.
// Package runtimetest has the suites that every implementation passes, and those of
// an Owner, a Fencer and a Keeper.
package journal
