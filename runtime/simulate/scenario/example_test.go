package scenario_test

import (
	"fmt"
	"os"

	"github.com/ambit-tools/ambit/runtime/simulate/scenario"
)

const source = `
scenarios: v1
cases:
- name: one-call-is-enough
  tools:
    api: {rules: {max_calls: 1}}
  steps:
  - call: {id: c1, tool: api, args: {n: 1}}
    expect: {outcome: executed}
  - call: {id: c2, tool: api, args: {n: 2}}
    expect: {outcome: executed}
`

func Example() {
	file, err := scenario.Parse("limits.yaml", []byte(source))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range file.Cases {
		trace, err := c.Run(&scenario.Setup{})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(c.Name, trace.Faults())
		if err := trace.WriteJSON(os.Stdout); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// one-call-is-enough 1: expected outcome "executed", came "denied" (max_calls: "api" may be called once in a run; it cannot be called any more in this run)
	// {"case":"one-call-is-enough","step":0,"result":{"outcome":"executed","status":"ok","loop":"yield","args":{"n":1},"run":"running","pending_exit":[]}}
	// {"case":"one-call-is-enough","step":1,"result":{"outcome":"denied","reason":"max_calls","all_reasons":["max_calls"],"detail":{"max":1,"used":1},"loop":"continue","run":"running","pending_exit":[]}}
	// {"case":"one-call-is-enough","final":{"used":{"api":1},"invocations":{"api":1},"pending_exit":[],"run":"running"}}
}
