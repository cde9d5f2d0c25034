package outcomes_test

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/outcomes"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/wire"
)

var update = flag.Bool("update", false, "write testdata/outcomes.txt")

func TestMain(m *testing.M) { battery.Main(m) }

// members returns the members of a struct that are not zero.
func members(v reflect.Value) (text string) {
	for i := range v.NumField() {
		switch f := v.Field(i); {
		case f.IsZero():
		case f.Kind() == reflect.Struct:
			text += members(f)
		default:
			text += fmt.Sprintf(" %s=%v", v.Type().Field(i).Name, f.Interface())
		}
	}
	return text
}

// A row names an outcome of testdata/outcomes.txt.
type row struct {
	name string
	out  runtime.Outcome
}

// ends returns the outcomes that have nothing to do with consent.
func ends() []row {
	effect := func(out runtime.Outcome, writing, reads bool) runtime.Outcome {
		out.Detail.Writing = writing
		outcomes.AddEffect(&out, reads)
		return out
	}
	rolledBack := func(out runtime.Outcome) runtime.Outcome {
		out.RolledBack = true
		return effect(out, false, false)
	}
	return []row{
		{"NoRun", outcomes.NoRun(runtime.Call{ID: "c", Tool: "pay"})},
		{"UnknownTool", outcomes.UnknownTool("pax", []string{"pay", "read"})},
		{"InvalidInput", outcomes.InvalidInput([]wire.Violation{{Pointer: "/a", Keyword: "type", Expected: "string", Actual: "1"}})},
		{"InvalidInput without violations", outcomes.InvalidInput(nil)},
		{"IDReused", outcomes.IDReused("c")},
		{"ExecutorBusy", outcomes.ExecutorBusy("pay", 1024, time.Second)},
		{"ToolBusy", outcomes.ToolBusy("pay", 4, 3*time.Second)},
		{"NoSlot of one", outcomes.NoSlot("pay", 1, time.Second)},
		{"NoSlot of two", outcomes.NoSlot("pay", 2, time.Second)},
		{"EqualWaits", outcomes.EqualWaits("pay", "c1", time.Second)},
		{"ShuttingDown", outcomes.ShuttingDown()},
		{"RunFinished", outcomes.RunFinished()},
		{"SessionEnded", outcomes.SessionEnded("c", "pay")},
		{"NoCall", outcomes.NoCall("c", false)},
		{"NoCall, ended", outcomes.NoCall("c", true)},
		{"JournalUnavailable", outcomes.JournalUnavailable()},
		{"NotRecorded", outcomes.NotRecorded(false)},
		{"NotRecorded, stalled", outcomes.NotRecorded(true)},
		{"BudgetLeft", outcomes.BudgetLeft(2*time.Second, 5*time.Second)},
		{"BudgetLeft, used up", outcomes.BudgetLeft(-time.Second, 5*time.Second)},
		{"TurnOver", outcomes.TurnOver()},
		{"Blocked", outcomes.Blocked("pay")},
		{"PreviewLate", outcomes.PreviewLate("pay")},
		{"TimedOut", effect(outcomes.TimedOut("pay", 45*time.Second, true), false, false)},
		{"TimedOut, only reads", effect(outcomes.TimedOut("pay", 45*time.Second, false), false, true)},
		{"TimedOut, writing", effect(outcomes.TimedOut("pay", 45*time.Second, false), true, true)},
		{"TimedOut, rolled back", rolledBack(outcomes.TimedOut("pay", 45*time.Second, false))},
		{"Cancelled", effect(outcomes.Cancelled(), false, false)},
		{"Cancelled, rolled back", rolledBack(outcomes.Cancelled())},
		{"Expired, which has no effect", effect(outcomes.Expired(), false, false)},
		{"RunClosed", outcomes.RunClosed()},
		{"ShutDown", outcomes.ShutDown()},
		{"LeaseLost", outcomes.LeaseLost()},
		{"StillRuns", outcomes.StillRuns("c", "pay")},
		{"Abandoned, lasting", outcomes.Abandoned(outcomes.Ran(false), true)},
		{"Abandoned", outcomes.Abandoned(outcomes.Ran(false), false)},
		{"Abandoned, a command", outcomes.Abandoned(outcomes.Ran(true), true)},
		{"Interrupted, a command", outcomes.Interrupted(outcomes.Ran(true), journal.EffectsNone, false)},
		{"NotStarted", outcomes.NotStarted(outcomes.Ran(false))},
		{"NotStartedCommand", outcomes.NotStarted(outcomes.Ran(true))},
		{"Interrupted, none", outcomes.Interrupted(outcomes.Ran(false), journal.EffectsNone, true)},
		{"Interrupted, in parts", outcomes.Interrupted(outcomes.Ran(false), journal.EffectsInParts, false)},
		{"Interrupted, at participants", outcomes.Interrupted(outcomes.Ran(false), "", true)},
		{"Interrupted", outcomes.Interrupted(outcomes.Ran(false), "", false)},
		{"CommitUnknown", outcomes.CommitUnknown(runtime.ReasonCommitFailed)},
		{"NoEffect", outcomes.NoEffect("the tool found")},
		{"Found", outcomes.Found(true, "")},
		{"Found, with a reason", outcomes.Found(false, "the bank says so")},
	}
}

// consents returns the outcomes of calls that need consent.
func consents() []row {
	asks := []runtime.Ask{{ID: "big", At: "pay.rego:3"}, {ID: "other"}}
	reasons := []consent.Reason{{Code: "big", At: "pay.rego:3", Message: "it is a lot"}}
	return []row{
		{"NoApprover", outcomes.NoApprover("pay", asks)},
		{"NoApprover without asks", outcomes.NoApprover("pay", nil)},
		{"NobodyAsked", outcomes.NobodyAsked("pay")},
		{"TooManyPending", outcomes.TooManyPending("pay", 100, asks)},
		{"TooManyPending, one", outcomes.TooManyPending("pay", 1, asks)},
		{"Unaskable", outcomes.Unaskable()},
		{"TooOld", outcomes.TooOld()},
		{"Mismatch", outcomes.Mismatch([]string{"args"})},
		{"Redeclared", outcomes.Redeclared()},
		{"DeniedByPerson", outcomes.DeniedByPerson("")},
		{"DeniedByPerson, with a message", outcomes.DeniedByPerson("not today")},
		{"Pending", outcomes.Pending("pay", reasons, consent.Requirement{Approvers: []string{"ann", "bob"}}, time.Minute)},
		{"Pending of anybody", outcomes.Pending("pay", nil, consent.Requirement{}, 0)},
	}
}

// TestOutcomes compares every outcome with testdata/outcomes.txt, which shows all that a model is told by them.
func TestOutcomes(t *testing.T) {
	var text strings.Builder
	for _, row := range append(ends(), consents()...) {
		o := row.out
		message := o.Message
		o.Message = ""
		fmt.Fprintf(&text, "%s:%s\n\t%s\n", row.name, members(reflect.ValueOf(o)), message)
	}
	const golden = "testdata/outcomes.txt"
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(text.String()), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, string(want), text.String(), "with -update the test writes the file")
}
