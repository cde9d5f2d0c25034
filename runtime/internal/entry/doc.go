// Package entry makes the entries that a journal holds of a call, and decodes the values in them
// again under the declarations of now.
//
// A [Draft] is an entry that is being made. It keeps sensitive values apart from the record, and it
// becomes an entry without values when the code of a tool cannot write one, so that a broken tool
// does not keep other calls from the journal. [Restore] is the opposite direction: it returns the
// values of a recorded call, or why its undo can no longer have them.
package entry
