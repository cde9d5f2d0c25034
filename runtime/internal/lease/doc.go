// Package lease keeps the ownership of a journal that one process at a time may write, from the
// recovery of an executor until its shutdown, and says when it is lost.
//
// A [Lease] renews the ownership with every heartbeat. It is lost when the journal says that another
// process has it ([journal.ErrLost]), when a write or an effect finds that out, and when no renewal
// has succeeded for the time after which the next owner may take over. Config.OnLost is called then,
// once. A renewal that fails for another reason is reported and tried again. Time in which the process
// did not run, because it was stopped or its machine was suspended, does not count: the next renewal
// finds out whether another process has taken the journal meanwhile, and so does every write and effect.
//
// # Concurrency
//
// All methods are safe for concurrent use once Claim has returned. The timers run one after the
// other, and no goroutine waits for them. The functions of a [Config] are called without a lock of
// the Lease, so they may acquire any lock of the executor. Wrote may be called under any lock and
// does not wait. Release waits for OnLost and for the renewal in progress, and must be called under
// no lock that these acquire.
//
// A nil *Lease is that of an executor without a journal: there is nothing to own.
package lease
