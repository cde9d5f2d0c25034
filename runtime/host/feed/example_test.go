package feed_test

import (
	"context"
	"fmt"

	"github.com/ambit-tools/ambit/runtime/host/feed"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// A subscriber that was away resumes after the last entry that it handled.
func Example() {
	ctx := context.Background()
	f := feed.New(new(journal.Memory), 0)
	j := f.Journal() // what an executor is given
	for seq, call := range []string{"c1", "c2", "c1"} {
		_ = j.Append(ctx, []journal.Entry{{Seq: uint64(seq + 1), Kind: "tool.started", Session: "s", Call: call, Leaf: []byte("{}")}})
	}

	handled := uint64(1) // c1 was handled
	for e, err := range f.Subscribe(ctx, handled, feed.Filter{Session: "s", Kinds: []string{"tool.started"}}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(e.Seq, e.Kind, e.Call)
		if e.Seq == f.Head() {
			return
		}
	}
	// Output:
	// 2 tool.started c2
	// 3 tool.started c1
}
