package rules_test

import (
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// A call is refused, the answer says what would unblock it, and it goes through.
func Example() {
	engine, err := rules.Compile(rules.Config{Tools: []rules.Tool{
		{Name: "connect", Rules: runtime.Rules{StartConstraint: true}},
		{Name: "query", Rules: runtime.Rules{MaxCalls: 10, Cooldown: 2 * time.Second}},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	session := engine.NewState()
	session.StartRun(0, "run")

	call := func(now time.Duration, id, tool string) {
		at := rules.Instant(now)
		c := rules.Call{ID: id, Run: "run", Principal: "agent", Tool: tool}
		if verdict, _ := session.Admit(at, &c); !verdict.Admitted() {
			fmt.Println(id, verdict.Reasons(), "unblocked by", session.Unblock(at, &c).Steps)
			return
		}
		session.Commit(at, id)
		session.Finish(at, id, rules.StatusOK)
		fmt.Println(id, "ran")
	}
	call(0, "c1", "query")
	call(0, "c2", "connect")
	call(0, "c3", "query")
	call(time.Second, "c4", "query")
	call(2*time.Second, "c5", "query")
	// Output:
	// c1 [start_constraint] unblocked by [call connect]
	// c2 ran
	// c3 ran
	// c4 [cooldown] unblocked by [wait 1s]
	// c5 ran
}
