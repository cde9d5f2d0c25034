package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// report prints outcomes, for people or as JSON lines. An error means that some
// of it is lost.
type report struct {
	out    io.Writer
	json   bool
	place  string // what the calls worked on
	lost   bool   // the output cannot be written any more
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
func (r *report) add(o runtime.Outcome) error {
	r.counts[o.Kind]++
	if r.json {
		return r.addJSON(o)
	}
	reason := o.Reason.String()
	if reason == "" {
		reason = "-"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-10s %-12s %-10s %-21s %8.1f ms  %s\n", word(o.CallID), word(o.Tool), o.Kind, reason, milliseconds(o.Duration), text(o))
	for _, v := range o.Violations {
		fmt.Fprintf(&b, "%11s- %s\n", "", oneLine(v.String()))
	}
	return r.print(b.String())
}

// addJSON prints one outcome as a JSON line.
func (r *report) addJSON(o runtime.Outcome) error {
	violations := o.Violations
	if violations == nil {
		violations = []wire.Violation{}
	}
	text, err := json.Marshal(outcomeLine{
		Call: o.CallID, Tool: o.Tool, Outcome: o.Kind.String(), Reason: o.Reason.String(),
		Violations: violations, Message: o.Message, DurationMS: milliseconds(o.Duration),
	})
	if err != nil {
		return err
	}
	return r.print(plainJSON(text) + "\n")
}

// print writes to the output.
func (r *report) print(text string) error {
	if _, err := io.WriteString(r.out, text); err != nil {
		r.lost = true
		return fmt.Errorf("output is lost: %w", err)
	}
	return nil
}

// text is what a reader wants to see of an outcome on its line.
func text(o runtime.Outcome) string {
	if n := len(o.Violations); n > 0 {
		return fmt.Sprintf("violations: %d", n)
	}
	if o.Kind != runtime.Completed {
		return oneLine(o.Message)
	}
	const most = 72
	if len(o.Output) <= most {
		return oneLine(string(o.Output))
	}
	end := most
	for !utf8.RuneStart(o.Output[end]) {
		end--
	}
	return fmt.Sprintf("%s... (%d bytes)", oneLine(string(o.Output[:end])), len(o.Output))
}

// summary prints how many calls ended in which way.
func (r *report) summary(late *lateWrites) error {
	if r.json || r.lost {
		return nil
	}
	total := 0
	var kinds []string
	for kind, n := range r.counts {
		if total += n; n > 0 {
			kinds = append(kinds, fmt.Sprintf("%d %s", n, runtime.OutcomeKind(kind)))
		}
	}
	text := fmt.Sprintf("\n%s on %s: %s\n", plural(total, "call"), r.place, cmp.Or(strings.Join(kinds, ", "), "none"))
	if blocked, written := late.blocked.Load(), late.written.Load(); blocked+written > 0 {
		text += fmt.Sprintf("late writes: %d blocked, %d written\n", blocked, written)
	}
	return r.print(text)
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
