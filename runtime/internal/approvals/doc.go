// Package approvals holds the requests for consent and the grants of an executor: the book of package
// consent behind a lock, the calls that wait for an answer, and the timer of what is due.
//
// Every change is an event of the book. It is applied and given to Config.Changed in one step, so that
// a journal has the changes in their order. A type of the caller stands for a call: the package only
// keeps it and gives it back.
//
// # Concurrency
//
// All methods are safe for concurrent use once [Approvals.Open] has returned. [Approvals.Begin] acquires
// the lock until [Asking.End]: a call is checked against grants and limits and asks in one step. Config.Changed
// and Config.Report are called under the lock, Config.Due under none. No other method waits, except
// for the lock; [Approvals.ProcessDue] releases it after every [consent.AtOnce] requests.
package approvals
