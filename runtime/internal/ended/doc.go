// Package ended holds the calls of one session that have ended, by reference: about 100 bytes for each, with what a
// session asks of such a call without the journal (its kind, whether it can be undone, the digest of its input) and
// where the journal has the rest. [Read] reads that, and refuses entries that are not those of the reference.
//
// A Calls has no lock: the lock of the session guards it. Read needs none and must not be called under one, since it
// may wait for the disk.
package ended
