package terminal

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
)

// A dialogue is the conversation about one request.
type dialogue struct {
	*console
	r     *consent.Notice
	whole bool // nothing is left out of what is shown
	cut   bool // something was
}

func (d *dialogue) printf(format string, args ...any) { fmt.Fprintf(d.out, format, args...) }

// show prints the request.
func (d *dialogue) show() {
	r := d.r
	d.cut = false
	d.printf("\n%s\n", d.colour.bold(Escape(r.Tool)+" wants to run for "+Escape(quoteID(r.Principal))))
	if r.Agent != "" {
		d.printf("  called by the sub-agent %s\n", Escape(quoteID(r.Agent)))
	}
	undo := "cannot be undone"
	if r.Undoable {
		undo = "can be undone"
	}
	d.printf("  %s; %s\n", effects(r.Effect), undo)
	if r.Description != "" {
		d.printf("  %s\n", d.colour.faint(Escape(oneLine(r.Description))))
	}
	d.showReasons()
	d.showArguments()
	d.showCommand()
	d.showPreview()
	d.printf("  asked at %s, expires %s later; %s\n", r.Created.Format(time.TimeOnly+" MST"), plainDuration(r.Expires.Sub(r.Created)), wanted(r.Missing()))
	for _, v := range r.Votes {
		d.printf("  approved by %s\n", Escape(quoteID(v.By)))
	}
	if r.EditedBy != "" {
		by := "the arguments were changed by " + Escape(quoteID(r.EditedBy))
		if r.Rewritten {
			by += ", and then by the policy"
		}
		d.printf("  %s\n", d.colour.yellow(by))
	}
}

// effects says what a side effect means.
func effects(effect string) string {
	switch effect {
	case "read":
		return "reads"
	case "write":
		return "writes"
	}
	return "destructive"
}

func (d *dialogue) showReasons() {
	said := slices.ContainsFunc(d.r.Reasons, func(r consent.Reason) bool { return r.Message == d.r.Message })
	if d.r.Message != "" && !said {
		d.printf("  %s\n", Escape(oneLine(Fill(d.r.Message, d.arguments()))))
	}
	for _, reason := range d.r.Reasons {
		line := "asked by " + reason.Code
		if reason.At != "" {
			line += " (" + reason.At + ")"
		}
		if reason.Message != "" {
			line += ": " + Fill(reason.Message, d.arguments())
		}
		if len(reason.Bound) > 0 {
			line += ", for the values " + string(reason.Bound)
		}
		d.printf("  %s\n", Escape(oneLine(line)))
	}
	for _, o := range d.r.Obligations {
		d.printf("  %s\n", Escape(oneLine("on condition of "+o.Code+" "+string(o.Args))))
	}
}

// arguments is what may be shown of them.
func (d *dialogue) arguments() []byte {
	if len(d.r.Shown) > 0 {
		return d.r.Shown
	}
	return d.r.Args
}

func (d *dialogue) showArguments() {
	all, err := rows(d.arguments(), d.whole)
	switch {
	case err != nil:
		d.printf("  %s\n", d.colour.red(Escape(err.Error())))
		return
	case len(all) == 0:
		d.printf("  without arguments\n")
		return
	}
	d.printf("  with\n")
	writeTable(d.out, all)
	for _, r := range all {
		d.cut = d.cut || r.cut > 0
	}
}

// maxPreviewLines is how much of a preview is shown at once.
const maxPreviewLines = 60

func (d *dialogue) showPreview() {
	p := d.r.Preview
	if p == nil {
		return
	}
	lines := d.colour.diff(p.Text, isDiff(p.MediaType, p.Text))
	d.printf("  it would do this\n")
	rest := len(lines) - maxPreviewLines
	if rest > 0 && !d.whole {
		lines, d.cut = lines[:maxPreviewLines], true
	}
	for _, line := range lines {
		d.printf("  | %s\n", line)
	}
	if rest > 0 && !d.whole {
		d.printf("  ... %d lines are not shown ...\n", rest)
	}
}

// choose asks until there is an answer.
func (d *dialogue) choose(ctx context.Context) (action.Answer, error) {
	for {
		d.menu()
		line, err := d.read(ctx, "choice")
		if err != nil {
			return action.Answer{}, err
		}
		a, done, err := d.take(ctx, strings.ToLower(strings.TrimSpace(line)))
		if err != nil || done {
			return a, err
		}
	}
}

func (d *dialogue) menu() {
	d.printf("  y  once: this call and no other\n")
	d.printf("  e  again: and equal calls, for a while or for the session\n")
	if slices.Contains(d.r.Covers, runtime.CoverArgs) {
		d.printf("  a  alike: and calls whose arguments are alike\n")
	}
	if slices.Contains(d.r.Covers, runtime.CoverTool) {
		d.printf("  t  any: and every call of %s\n", Escape(d.r.Tool))
	}
	d.printf("  n  no\n")
	if d.cut {
		d.printf("  v  show everything\n")
	}
}

// take carries out one choice. It is not done when something has to be chosen again.
func (d *dialogue) take(ctx context.Context, choice string) (a action.Answer, done bool, err error) {
	a.By = d.by
	switch {
	case choice == "y" || choice == "yes":
		a.Approve = true
		return d.confirm(ctx, a)
	case choice == "n" || choice == "no":
		a.Message, err = d.read(ctx, "why (may be empty)")
		return a, true, err
	case choice == "v" && d.cut:
		d.whole = true
		d.show()
		return a, false, nil
	case choice == "e":
		a.Cover = runtime.CoverExact
	case choice == "a" && slices.Contains(d.r.Covers, runtime.CoverArgs):
		a.Cover = runtime.CoverArgs
		if a.CoverArgs, err = d.alike(ctx); err != nil || a.CoverArgs == nil {
			return a, false, err
		}
	case choice == "t" && slices.Contains(d.r.Covers, runtime.CoverTool):
		a.Cover = runtime.CoverTool
	default:
		d.printf("  %s\n", d.colour.yellow("Type one of the letters."))
		return a, false, nil
	}
	a.Approve = true
	var ok bool
	if a.Grant, a.For, ok, err = d.lasting(ctx); err != nil || !ok {
		return a, false, err
	}
	return d.confirm(ctx, a)
}

// lasting asks how long a grant is to last.
func (d *dialogue) lasting(ctx context.Context) (consent.GrantLifetime, time.Duration, bool, error) {
	line, err := d.read(ctx, "for how long (15m, 2h, or session)")
	line = strings.TrimSpace(line)
	switch {
	case err != nil:
		return 0, 0, false, err
	case line == "session":
		return consent.ForSession, 0, true, nil
	}
	span, err := time.ParseDuration(line)
	if err != nil || span <= 0 {
		d.printf("  %s\n", d.colour.yellow("Write a duration such as 15m, or session."))
		return 0, 0, false, nil
	}
	return consent.ForDuration, span, true, nil
}

// confirm shows what an approval will store, and asks once more when that is
// more than the approval of this call.
func (d *dialogue) confirm(ctx context.Context, a action.Answer) (action.Answer, bool, error) {
	d.printf("  %s\n", Escape(d.stored(a)))
	if a.Grant == consent.Once {
		return a, true, nil
	}
	line, err := d.read(ctx, "store this (yes or no)")
	if err != nil {
		return a, false, err
	}
	answer := strings.ToLower(strings.TrimSpace(line))
	return a, answer == "y" || answer == "yes", nil
}

func quoteID(id string) string { return `"` + id + `"` }

// oneLine is text with its line breaks as spaces.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// plainDuration drops the units that say nothing: 5m0s is 5m.
func plainDuration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
