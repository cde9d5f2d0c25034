package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// report prints outcomes, for people or as JSON lines. An error means that some
// of it is lost.
type report struct {
	out    io.Writer
	errs   io.Writer
	json   bool
	place  string // what the calls worked on
	counts [runtime.Unknown + 1]int
	bad    int // lines that are no calls

	mu   sync.Mutex // reviewer and host print, too
	lost bool       // the output cannot be written any more
}

// outcomeLine is an outcome as a JSON line, or what became of an undo, which is
// no call and has no outcome.
type outcomeLine struct {
	Call       string           `json:"call"`
	Tool       string           `json:"tool"`
	Outcome    string           `json:"outcome,omitempty"` // one of the kinds of outcomes
	Undo       string           `json:"undo,omitempty"`    // undone or not_undone
	Reason     string           `json:"reason"`
	Violations []wire.Violation `json:"violations"`
	Message    string           `json:"message"`
	DurationMS float64          `json:"duration_ms"`
}

// indent is where what belongs to a line stands below it.
const indent = "           "

// row is a line about a call; what is last has no width.
func row(id, tool, kind, reason, took, text string) string {
	return fmt.Sprintf("%-10s %-12s %-10s %-21s %11s  %s", word(id), word(tool), kind, reason, took, text)
}

// add counts and prints one outcome.
func (r *report) add(o runtime.Outcome) error {
	r.counts[o.Kind]++
	return r.show(o)
}

// show prints one outcome.
func (r *report) show(o runtime.Outcome) error {
	if r.json {
		return r.showJSON(outcomeLine{
			Call: o.CallID, Tool: o.Tool, Outcome: o.Kind.String(), Reason: o.Reason.String(),
			Violations: o.Violations, Message: o.Message, DurationMS: milliseconds(o.Duration),
		})
	}
	var b strings.Builder
	b.WriteString(row(o.CallID, o.Tool, o.Kind.String(), cmp.Or(o.Reason.String(), "-"), took(o.Duration), text(o)) + "\n")
	for _, v := range o.Violations {
		fmt.Fprintf(&b, "%s- %s\n", indent, oneLine(v.String()))
	}
	return r.print(b.String())
}

// undone prints how an undo ended.
func (r *report) undone(id, tool string, err error, d time.Duration) error {
	kind, what := "undone", "what the call has changed was taken back"
	_, why := action.ResultOf(err)
	if err != nil {
		kind, what = "not_undone", "the call stands as it is"
	}
	if r.json {
		return r.showJSON(outcomeLine{Call: id, Tool: tool, Undo: kind, Reason: string(why), Message: what, DurationMS: milliseconds(d)})
	}
	return r.print(row(id, tool, kind, cmp.Or(string(why), "-"), took(d), what) + "\n")
}

// note says something about the calls that is not how one of them ended.
func (r *report) note(text string) { r.tell("note: %s\n", text) }

// tell writes to standard error, from any goroutine.
func (r *report) tell(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(r.errs, format, args...)
}

// operator tells the operator of an error that no caller gets: a panic, the error of a
// handler, of which the agent sees a safe text, or a fault of the host.
func (r *report) operator(err error) {
	if fault, ok := errors.AsType[*action.CallError](err); ok && errors.Is(err, runtime.ErrFenced) {
		err = fault.Err // which names the call itself
	}
	r.tell("operator: %s\n", oneLine(err.Error()))
}

// refuse says what is wrong with a line.
func (r *report) refuse(line *badLine) {
	r.bad++
	r.tell("error: %v\n", line)
}

// unread is an error when there was a line that is no call.
func (r *report) unread() error {
	if r.bad == 0 {
		return nil
	}
	return fmt.Errorf("%s could not be read", plural(r.bad, "line"))
}

// heading prints what the next lines are about.
func (r *report) heading(text string) error {
	if r.json {
		return nil
	}
	return r.print(text + "\n")
}

// showJSON prints a line as JSON.
func (r *report) showJSON(line outcomeLine) error {
	if line.Violations == nil {
		line.Violations = []wire.Violation{}
	}
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}
	return r.print(plainJSON(text) + "\n")
}

// print writes to the output.
func (r *report) print(text string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
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

// summary prints how many calls ended in which way, and what the audit says.
func (r *report) summary(late *lateWrites, verdict string) error {
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
	return r.print(text + verdict)
}

func took(d time.Duration) string { return fmt.Sprintf("%.1f ms", milliseconds(d)) }

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
