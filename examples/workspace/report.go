package main

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// report prints outcomes, for people or as JSON lines.
type report struct {
	out    io.Writer
	json   bool
	dir    string
	counts [runtime.Unknown + 1]int
}

// outcomeLine is an outcome as a JSON line.
type outcomeLine struct {
	Call       string           `json:"call"`
	Tool       string           `json:"tool"`
	Outcome    string           `json:"outcome"`
	Reason     string           `json:"reason"`
	Violations []wire.Violation `json:"violations"`
	Message    string           `json:"message"`
	DurationMS float64          `json:"duration_ms"`
}

// add prints one outcome.
func (r *report) add(o runtime.Outcome) {
	r.counts[o.Kind]++
	if r.json {
		violations := o.Violations
		if violations == nil {
			violations = []wire.Violation{}
		}
		line, err := json.Marshal(outcomeLine{
			Call: o.CallID, Tool: o.Tool, Outcome: o.Kind.String(), Reason: o.Reason.String(),
			Violations: violations, Message: o.Message, DurationMS: milliseconds(o.Duration),
		})
		if err != nil {
			line = fmt.Appendf(nil, `{"error": %q}`, err)
		}
		fmt.Fprintf(r.out, "%s\n", line)
		return
	}
	reason := o.Reason.String()
	if reason == "" {
		reason = "-"
	}
	fmt.Fprintf(r.out, "%-10s %-12s %-10s %-21s %8.1f ms  %s\n", o.CallID, o.Tool, o.Kind, reason, milliseconds(o.Duration), text(o))
	for _, v := range o.Violations {
		fmt.Fprintf(r.out, "%11s- %s\n", "", v)
	}
}

// text is what a reader wants to see of an outcome on its line.
func text(o runtime.Outcome) string {
	if n := len(o.Violations); n > 0 {
		return fmt.Sprintf("violations: %d", n)
	}
	if o.Kind != runtime.Completed {
		return o.Message
	}
	const most = 72
	if len(o.Output) > most {
		return fmt.Sprintf("%s... (%d bytes)", o.Output[:most], len(o.Output))
	}
	return string(o.Output)
}

// summary prints how many calls ended in which way.
func (r *report) summary(late *lateWrites) {
	if r.json {
		return
	}
	total := 0
	for _, n := range r.counts {
		total += n
	}
	fmt.Fprintf(r.out, "\n%d calls on %s:", total, r.dir)
	for kind, n := range r.counts {
		if n > 0 {
			fmt.Fprintf(r.out, " %d %s", n, runtime.OutcomeKind(kind))
		}
	}
	fmt.Fprintln(r.out)
	if blocked, written := late.blocked.Load(), late.written.Load(); blocked+written > 0 {
		fmt.Fprintf(r.out, "late writes: %d blocked, %d written\n", blocked, written)
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
