// Package feed tells subscribers what a journal holds, from a position on, as it grows.
//
// A [runtime.Sink] hears of an event before it is durable, and cannot be asked for the past. A Feed
// stands in front of a journal, as the audit log does. It passes an entry on once Append has made
// it durable, and reads earlier entries from the journal. So a subscriber that resumes after the
// last position that it handled misses no entry and gets none twice, whatever crashed in between.
//
//	store, err := sqlite.Open("ambit.db")
//	head, err := store.Head(ctx)
//	f := feed.New(store, head)
//	exec, err := engine.NewExecutor(reg, policy, engine.WithJournal(f.Journal()))
//	...
//	for e, err := range f.Subscribe(ctx, after, feed.Filter{Session: "s-1"}) {
//		if err != nil {
//			return err
//		}
//		record, err := journal.Decode(e.Leaf)
//		...
//	}
//
// # What a subscriber costs
//
// Append waits for no subscriber. A Feed has no queue per subscriber: each reads at its own pace,
// the latest entries from a window in memory that all share, and what has left the window from the
// journal. A subscriber that waits is woken only by an entry that it asked for.
//
// # Live output
//
// [Feed.Follow] returns, between the entries, what the handlers of calls report while they run
// (runtime.Report): give [Feed.Live] to engine.WithLive. A piece of live output is passed on at once and
// kept nowhere. 64 pieces wait for a subscriber; one that is slower is told how many it missed.
//
// # What is not in it
//
// The private part of an entry (values of members marked x-sensitive, which can be erased) never
// passes through a Feed.
package feed
