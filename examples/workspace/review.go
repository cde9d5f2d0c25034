package main

import (
	"context"
	"strings"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/host"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// A reviewer answers requests for consent. It is a part of the script, as the
// agent is: it shows what a person would see and says what the command line
// says. A program asks a person, for example by package runtime/host/terminal.
type reviewer struct {
	host       *host.Host
	tools      *tools
	rep        *report
	says       string            // yes or no; later: nothing
	unfinished []journal.CallKey // calls that earlier starts have left without an outcome
}

// setup connects the reviewer and the tools with the host before it recovers.
func (r *reviewer) setup(ctx context.Context, h *host.Host) (opts []engine.Option, err error) {
	r.host, r.tools.ws = h, h.Workspace
	if r.says != "later" {
		opts = append(opts, engine.WithApprover(r))
	}
	r.unfinished, err = h.Store.Unfinished(ctx)
	return opts, err
}

// reviewerName is who answers: not whom the calls are made for.
const reviewerName = "reviewer"

// Notify implements consent.Approver.
func (r *reviewer) Notify(ctx context.Context, req *consent.Notice) error {
	_, err := r.answer(ctx, req, r.says == "yes")
	return err
}

// answer shows a request and answers it. The outcome is that of the call.
func (r *reviewer) answer(ctx context.Context, req *consent.Notice, yes bool) (*runtime.Outcome, error) {
	if err := r.rep.request(req, yes); err != nil {
		return nil, err
	}
	a := action.Answer{By: runtime.ProgramActor(reviewerName), Approve: yes}
	if !yes {
		a.Message = "the script says no"
	}
	return r.host.Executor.Decide(ctx, req.ID, a).Outcome, nil
}

// find returns the open request about a call, nil when there is none.
func (r *reviewer) find(callID string) *consent.Notice {
	for _, req := range r.host.Executor.Requests() {
		if req.CallID == callID {
			return req
		}
	}
	return nil
}

// request prints a request: why the call needs consent, and what it would do.
func (r *report) request(req *consent.Notice, yes bool) error {
	if r.json {
		return nil
	}
	var b strings.Builder
	why := ""
	if len(req.Reasons) > 0 {
		why = req.Reasons[0].Message
	}
	b.WriteString(oneLine(row(req.CallID, req.Tool, "asked", "-", "", why)) + "\n")
	if req.Preview != nil {
		for line := range strings.Lines(req.Preview.Text) {
			b.WriteString(indent + oneLine(strings.TrimSuffix(line, "\n")) + "\n")
		}
	}
	if yes {
		b.WriteString(indent + "the scripted reviewer says yes\n")
	} else {
		b.WriteString(indent + "the scripted reviewer says no\n")
	}
	return r.print(b.String())
}
