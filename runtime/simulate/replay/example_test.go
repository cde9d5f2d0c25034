package replay_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen/dynamic"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/simulate/replay"
	"github.com/ambit-tools/ambit/runtime/wire"
)

const declaration = `
ambit: v1
package: mailtools
tools:
  mail:
    version: 1.0.0
    description: Send a mail.
    input: {type: object, properties: {to: {type: string, description: Whom.}}, required: [to]}
    output: {type: object}
    rules: {max_calls: 3}
`

// record makes three calls with a journal.
func record(j journal.Journal, file *dsl.File) error {
	ctx := context.Background()
	tools, err := dynamic.Tools(file, func(context.Context, string, wire.Value) (wire.Value, error) { return wire.Raw("{}"), nil })
	if err != nil {
		return err
	}
	reg, err := runtime.NewRegistry(tools...)
	if err != nil {
		return err
	}
	exec, err := engine.NewExecutor(reg, runtime.PolicyFunc(allow), engine.WithJournal(j))
	if err != nil {
		return err
	}
	if err := exec.Recover(ctx); err != nil {
		return err
	}
	run, err := exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"}).StartRun(ctx, engine.RunConfig{ID: "r"})
	if err != nil {
		return err
	}
	for i := range 3 {
		in := runtime.Call{ID: fmt.Sprint("c", i+1), Tool: "mail", Input: fmt.Appendf(nil, `{"to":"%d@example.com"}`, i)}
		run.Turn(engine.TurnConfig{}).Execute(ctx, in)
	}
	if err := run.Close(ctx); err != nil {
		return err
	}
	return exec.Shutdown(ctx)
}

func allow(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
	return runtime.Decision{Effect: runtime.EffectAllow}, nil
}

func Example() {
	file, err := dsl.Parse("tools.yaml", []byte(declaration))
	if err != nil {
		fmt.Println(err)
		return
	}
	recorded := &journal.Memory{}
	if err := record(recorded, file); err != nil {
		fmt.Println(err)
		return
	}
	stricter, err := dsl.Parse("tools.yaml", []byte(strings.Replace(declaration, "max_calls: 3", "max_calls: 1", 1)))
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := replay.Run(context.Background(), recorded, &replay.Candidate{Declaration: stricter})
	if err != nil {
		fmt.Println(err)
		return
	}
	d := report.Runs[0].Divergence
	fmt.Println(d.Call, d.Class, "was", d.Recorded.Outcome, "would be", d.Candidate.Outcome, d.Candidate.AllReasons)
	s := report.Summary
	fmt.Println(s.Calls, "calls:", s.Unchanged, "unchanged,", s.After, "after a divergence")
	// Output:
	// c2 newly_denied was completed would be denied [max_calls]
	// 3 calls: 1 unchanged, 1 after a divergence
}
