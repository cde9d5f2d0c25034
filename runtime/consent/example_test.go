package consent_test

import (
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/wire"
)

func Example() {
	book := consent.NewBook([]byte("a key that is stored apart"))
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

	declared := &consent.Requirement{Approvers: []string{"alice", "bob"}, MaxCover: runtime.CoverArgs}
	asks := []runtime.Ask{{ID: "large_sum", Message: "more than 100", MaxCover: runtime.CoverArgs}}
	requirement, err := consent.Merge(declared, asks...)
	if err != nil {
		fmt.Println(err) // no approver could consent: the call is denied
		return
	}
	question := &consent.Question{
		Call:        consent.Call{ID: "c1", Tool: "transfer", Session: "s", Principal: "agent", Args: wire.Raw(`{"to":"a","sum":250}`), Revision: "v1"},
		Requirement: requirement, Reasons: consent.Reasons(asks),
	}
	event, err := book.Ask(now, "q1", "a nonce", question)
	if err == nil {
		err = book.Apply(&event) // after it was stored
	}
	fmt.Println(event.Kind, err)

	now = now.Add(time.Minute)
	event = book.Decide(now, "q1", &consent.Answer{By: "alice", Approve: true, Offer: consent.Offer{
		Lasting: consent.ForDuration, For: time.Hour,
		Cover: runtime.CoverArgs, Where: []consent.Predicate{{Member: "to", Op: consent.OpEqual, Value: []byte(`"a"`)}},
	}})
	fmt.Println(event.Result.Resolution, "until", event.Result.Granted.Expires.Format(time.TimeOnly), book.Apply(&event))

	other := *question
	other.Call.Args = wire.Raw(`{"to":"mallory","sum":250}`)
	event, err = book.Use(now, "q1", &other, false)
	fmt.Println(event.Kind, event.Changed, err)

	question.Call.Args = wire.Raw(`{"to":"a","sum":9000}`)
	grant, ok := book.Match(now.Add(30*time.Minute), question)
	fmt.Println(grant.Grantors, ok)
	_, ok = book.Match(now.Add(time.Hour), question)
	fmt.Println(ok)
	// Output:
	// asked <nil>
	// accepted until 04:05:05 <nil>
	// mismatch [args] <nil>
	// [alice] true
	// false
}
