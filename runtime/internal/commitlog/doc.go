// Package commitlog passes the entries of an executor to its journal: in the order in which they
// were added, many in one write, and none after a write that failed.
//
// [Writer.Add] queues an entry in memory and does not wait. A goroutine that needs its entries to
// survive a crash calls [Writer.Flush]. The first goroutine that does so writes for all that have
// added entries by then, and the first one to arrive meanwhile writes next. An entry that no
// goroutine waits for is written within 100 ms.
//
// A failed write is sticky: memory is then ahead of the journal and no answer may depend on it. The
// exception is a journal that reports that it wrote nothing ([journal.ErrUnavailable]), such as on a
// full disk. Then the Writer stalls: it keeps the entries and tries again until it succeeds.
//
// # Concurrency
//
// All methods are safe for concurrent use. The Writer's mutex is acquired after every lock of the
// caller, and under it only the Scheduler's. Add, ConsentChanged, Health and Stalled may therefore be
// called under any lock. HoldBatch has a lock of its own, which the caller holds until ReleaseBatch:
// it comes before the lock of the book of requests and grants (section Locks of package lockorder).
// Flush, FlushAll, FlushThroughStall and Close wait for the disk and must be called under none. The
// functions of a [Config], and those that are passed to [Writer.WhenDurable], are called without a
// lock of the Writer.
//
// A nil *Writer is that of an executor without a journal. Nothing is recorded, and nothing waits.
package commitlog
