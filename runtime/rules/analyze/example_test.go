package analyze_test

import (
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/rules"
	"github.com/ambit-tools/ambit/runtime/rules/analyze"
)

func Example() {
	findings := analyze.Analyze(rules.Config{Tools: []rules.Tool{
		{Name: "lock", Rules: runtime.Rules{ExclusiveGroups: []string{"editor"}}},
		{Name: "edit", Rules: runtime.Rules{ExclusiveGroups: []string{"editor"}, RequiresPreceding: []string{"lock"}}},
		{Name: "save", Rules: runtime.Rules{RequiresPreceding: []string{"edit"}, RequiredBeforeExit: true}},
	}})
	for _, f := range findings {
		fmt.Printf("%s: %s\n", f.Code, f.Message)
	}
	// Output:
	// unreachable_tool: tool "edit" can never run: it takes both "lock" and "edit", and group "editor" lets only one of them run
	// unreachable_tool: tool "save" can never run: it needs "edit", which can never run
	// exit_requirement_unmet: no run can finish: "save" is required before exit and can never run
}
