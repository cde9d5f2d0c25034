package agent

import (
	"fmt"
	"io"
	"strings"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/models"
)

// Print returns what shows a conversation, for models.Loop.
func Print(out io.Writer) func(models.Message) {
	var calls []runtime.Call
	reminders := -1 // the first text is the user's own
	return func(m models.Message) {
		switch {
		case m.Role == models.User && reminders < 0:
			reminders = 0
			fmt.Fprintf(out, "user: %s\n", m.Text)
		case m.Role == models.User:
			reminders++
			fmt.Fprintf(out, "reminder %d: %s\n", reminders, m.Text)
		case m.Role == models.Assistant && len(m.Calls) == 0:
			fmt.Fprintf(out, "model: %s\n", m.Text)
		case m.Role == models.Assistant:
			calls = m.Calls
		}
		for i, r := range m.Results {
			o := r.Outcome
			fmt.Fprintf(out, "call %s %s\n  %s\n", r.Tool, calls[i].Input, r.Text)
			if o.Run != runtime.RunRunning || o.Loop != runtime.LoopContinue {
				fmt.Fprintf(out, "  (the run is %s, the loop should %s%s)\n", o.Run, o.Loop, open(o.PendingExit))
			}
		}
	}
}

// PrintEnd shows how a run ended.
func PrintEnd(out io.Writer, status engine.RunStatus) {
	fmt.Fprintf(out, "the run is %s%s\n", status.State, open(status.PendingExit))
}

func open(required []string) string {
	if len(required) == 0 {
		return ""
	}
	return ", open: " + strings.Join(required, ", ")
}
