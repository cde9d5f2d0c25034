// Package content keeps byte strings by their SHA-256: the outputs of calls that
// are too large for the journal, and what files were before a call changed them.
//
//	store, err := content.Open("state/content")
//	ref, err := store.Put(ctx, data)   // {SHA256, Size}, small enough for the journal
//	data, err = store.Get(ctx, ref)
//
// A Put that has returned would outlive a loss of power. A new content is written
// under its name, and both are synced together; one that is there already is
// replaced by way of a temporary file. Equal contents are stored once. PutAll makes several durable together, which
// takes less time than one after the other; Create is for a content that comes
// in parts.
//
// Get and a Reader verify: for a content that is torn, or was changed, the error is
// ErrCorrupt, with the name of the file, and it is not returned. Putting the same
// content again repairs it.
//
// Once a sync has failed nothing can be promised any more, and trying again would
// say nothing: every Put fails with ErrBroken until the store is opened anew.
//
// Only Prune removes contents: those that were last put before a time and are not
// wanted.
//
// A store is a directory: the content with the hash abcd... is the file cd... in
// ab. One process at a time may use it.
package content
