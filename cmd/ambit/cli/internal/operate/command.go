package operate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/store"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/host/inbox"
	"github.com/ambit-tools/ambit/runtime/host/terminal"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// A commandVerb is what the verbs share that want something of an executor.
type commandVerb struct {
	store.Options
	wait   time.Duration
	widest runtime.GrantCover // that a grant may have, of the request that is answered
	// longest is for how long that grant may last.
	longest time.Duration
	token   tokenView // of the verbs about tokens
	ticket  string    // of "console open": what signs the browser in
	shown   string    // of an approval, how the binding of the request begins that its approver was shown
	inbox.Command
}

// flags adds the flags of every such verb to cmd.
func (v *commandVerb) flags(cmd *cobra.Command) {
	v.Options.AddFlags(cmd)
	cmd.Flags().DurationVar(&v.wait, "wait", 5*time.Second, "how `long` to wait for the executor's answer")
	cmd.Flags().StringVar(&v.Reason, "reason", "", "why, as it is recorded")
}

// aboutCall adds the flags that name a call.
func (v *commandVerb) aboutCall(cmd *cobra.Command) {
	cmd.Flags().StringVar(&v.Call, "call", "", "`id` of the call, or how it begins")
	cmd.Flags().StringVar(&v.Session, "session", "", store.SessionUsage)
}

// A sent command is how "--json" shows one.
type sent struct {
	Nonce  string               `json:"nonce"`
	Kind   string               `json:"kind"`
	By     string               `json:"by"`
	State  string               `json:"state"` // done, rejected, imported or waiting
	Result *inbox.CommandResult `json:"result,omitempty"`
	Call   *callView            `json:"call,omitempty"`  // that goes on after an approval, as it is now
	Token  string               `json:"token,omitempty"` // that was made: what its holder sends
	URL    string               `json:"url,omitempty"`   // that signs a browser in
}

// The states of a command.
const (
	sentDone     = "done"
	sentRejected = "rejected"
	sentImported = "imported"
	sentWaiting  = "waiting"
)

// send puts the command into the inbox and waits for what becomes of it. Of an
// approval about is the call that goes on.
func (v *commandVerb) send(cmd *cobra.Command, r *sqlite.Reader, about *journal.CallKey) error {
	if v.wait < 0 {
		return cmdutil.Usage("--wait: a negative time", "")
	}
	ctx, over := context.WithTimeout(cmd.Context(), v.wait)
	defer over()
	head, err := r.Head(cmd.Context())
	if err != nil {
		return err
	}
	if v.DryRun { // what the next start would say is of no use
		if served, err := inbox.Served(r); err != nil || !served {
			return cmp.Or(err, cmdutil.Problem("no executor runs on this store, or it serves no inbox", "start the application: its executor knows what would be undone"))
		}
	}
	if err := inbox.Put(cmd.Context(), r, &v.Command); err != nil {
		return putProblem(err)
	}
	served, err := inbox.Served(r)
	if err != nil {
		return err
	}
	out := &sent{Nonce: v.Nonce, Kind: v.Kind, By: v.By, State: sentWaiting, Token: v.token.Text}
	if served {
		if err := out.await(ctx, r, head); err != nil {
			return err
		}
	}
	if about != nil && out.State == sentDone && out.Result.Missing == 0 {
		if out.Call, err = ended(ctx, r, *about); err != nil {
			return err
		}
	}
	return v.tell(cmd, out, served)
}

// putProblem adds a remedy to an error of inbox.Put.
func putProblem(err error) error {
	if errors.Is(err, inbox.ErrNoInbox) {
		return cmdutil.Problem(err.Error(), "")
	}
	return cmdutil.Problem(err.Error(), "run ambit as the user that the application runs as")
}

// await waits until the journal says what became of the command, or ctx ends.
func (s *sent) await(ctx context.Context, r *sqlite.Reader, after uint64) error {
	return poll(ctx, func() (bool, error) {
		list, err := r.Read(context.WithoutCancel(ctx), after, store.PageSize)
		for i := range list {
			after = list[i].Seq
			if k := list[i].Kind; k != journal.KindCommandImported && k != journal.KindCommandDone {
				continue
			}
			rec, err := store.Decode(&list[i])
			if err != nil {
				return false, err
			}
			switch c := rec.Command; {
			case c == nil || c.Nonce != s.Nonce:
			case c.Result == nil:
				s.State = sentImported
			default:
				if s.Result, s.State = c.Result, sentRejected; c.Result.Done {
					s.State = sentDone
				}
				return true, nil
			}
		}
		return false, err
	})
}

// ended returns a call when it has its outcome, or as it stands when ctx ends.
func ended(ctx context.Context, r *sqlite.Reader, key journal.CallKey) (v *callView, err error) {
	err = poll(ctx, func() (bool, error) {
		v, err = viewOf(context.WithoutCancel(ctx), r, key, nil)
		return err == nil && v.Ended, err
	})
	if err == nil { // once: it reads all of the journal
		err = v.findGrant(context.WithoutCancel(ctx), r)
	}
	return v, err
}

// poll calls f until it is done, fails, or ctx has ended; once at least.
func poll(ctx context.Context, f func() (done bool, err error)) error {
	t := time.NewTicker(store.PollInterval)
	defer t.Stop()
	for {
		if done, err := f(); done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
	}
}

// tell prints what became of the command, and returns the error that the verb ends with.
func (v *commandVerb) tell(cmd *cobra.Command, out *sent, served bool) error {
	out.URL = v.loginURL(out.Result)
	if v.AsJSON {
		if err := cmdutil.PrintJSON(cmd.OutOrStdout(), out); err != nil {
			return err
		}
	}
	if out.Result != nil && !v.AsJSON {
		undoTable(cmd.OutOrStdout(), out.Result.Calls, v.DryRun)
	}
	switch out.State {
	case sentDone:
		if refusal := v.refused(out.Call); refusal != nil {
			if v.AsJSON {
				return cmdutil.Answered(cmdutil.ExitProblem)
			}
			return refusal
		}
		if !v.AsJSON {
			text := terminal.Escape(v.success(out))
			if v.Kind == inbox.CommandArchive {
				text = archived(out.Result.Archived)
			}
			fmt.Fprintln(cmd.OutOrStdout(), text)
		}
		return nil
	case sentRejected:
		if v.AsJSON {
			return cmdutil.Answered(cmdutil.ExitProblem)
		}
		return cmdutil.Problem(v.Kind+": "+refusal(out.Result), cmp.Or(out.Result.Remedy, v.remedy(out.Result.Reason, out.Result.Error)))
	}
	message, hint := "no executor runs on this store, or it serves no inbox: the command waits for the next start", "it is in "+cmdutil.Quote(inbox.Dir(reference(v.Path)))
	if served {
		message = fmt.Sprintf("the executor has not said within %s what became of the command: it is %s", v.wait, out.State)
		hint = "look for nonce " + out.Nonce + " with \"ambit audit tail\""
	}
	if v.AsJSON {
		return cmdutil.Answered(cmdutil.ExitWaiting)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "note: %s\n", message)
	return &cmdutil.Failure{Hint: hint, Code: cmdutil.ExitWaiting}
}

// A reference names a store without opening it.
type reference string

// Path implements inbox.Store.
func (p reference) Path() string { return string(p) }

// Key implements inbox.Store.
func (reference) Key(context.Context, string) ([]byte, error) { return nil, errors.ErrUnsupported }

// withoutReason returns what an error says behind a reason that it begins with, in
// words or as its code: that is printed before it.
func withoutReason(text, reason string) string {
	for _, r := range cmdutil.NonEmpty(reason, strings.ReplaceAll(reason, "_", " ")) {
		if rest, begins := strings.CutPrefix(text, r); begins && (rest == "" || strings.HasPrefix(rest, ": ")) {
			return strings.TrimPrefix(rest, ": ")
		}
	}
	return text
}

// refusal says why a command was rejected, or failed.
func refusal(res *inbox.CommandResult) string {
	text := strings.Join(cmdutil.Distinct(res.Result, res.Reason), ", ")
	if said := withoutReason(res.Error, res.Reason); said != "" {
		text += ": " + terminal.Escape(said)
	}
	return text + leftovers(res)
}

// success says what the command has done.
func (v *commandVerb) success(out *sent) string {
	res := out.Result
	switch v.Kind {
	case inbox.CommandApprove:
		text := fmt.Sprintf("approved: call %q", res.Call)
		switch {
		case res.Rewritten:
			return fmt.Sprintf("recorded: the policy changed the edit of call %q, which nobody has approved yet: \"ambit approvals show\" shows the arguments and the --binding of an approval", res.Call)
		case res.Missing > 0:
			text = fmt.Sprintf("recorded: call %q waits for %s", res.Call, cmdutil.Count(res.Missing, "more approval"))
		}
		if res.Grant != "" {
			text += ", with grant " + res.Grant
		}
		switch c := out.Call; {
		case c == nil:
		case c.Outcome != nil && c.Ended:
			text += ", which ended " + c.Outcome.Words()
		default:
			text += ", which has not ended yet (" + c.State + ")"
		}
		return text
	case inbox.CommandDeny:
		return fmt.Sprintf("denied: call %q", res.Call)
	case inbox.CommandRevoke:
		return "revoked: grant " + v.Grant
	case inbox.CommandTokenCreate, inbox.CommandTokenRevoke:
		return v.tokenDone()
	case inbox.CommandConsoleOpen:
		return out.URL
	case inbox.CommandCancel:
		return fmt.Sprintf("cancelled: call %q of session %q", v.Call, v.Session)
	case inbox.CommandResolve:
		return fmt.Sprintf("resolved: call %q of session %q", v.Call, v.Session)
	}
	what := "undone"
	if v.DryRun {
		what = "would be undone"
	}
	if v.Call != "" {
		return fmt.Sprintf("%s: call %q of session %q", what, v.Call, v.Session)
	}
	return fmt.Sprintf("%s: run %q of session %q: %s", what, v.Run, v.Session, cmdutil.Count(len(res.Undone), "call")) + leftovers(res)
}

// refused returns the error for an approval that was accepted and whose call was
// denied nevertheless: it was judged once more, and was not the approved one any
// more or is refused now.
func (v *commandVerb) refused(c *callView) error {
	if v.Kind != inbox.CommandApprove || c == nil || !c.Ended || c.Outcome == nil || c.Outcome.Outcome != runtime.Denied.String() {
		return nil
	}
	out := c.Outcome
	why := out.Reason
	if len(out.Detail.Changed) > 0 {
		why += " (changed: " + strings.Join(out.Detail.Changed, ", ") + ")"
	}
	return cmdutil.Problem(fmt.Sprintf("approve: the approval was accepted and call %q was denied nevertheless: %s", c.Call, why), deniedRemedy(out))
}

// deniedRemedy is what to do about a call that was approved and denied.
func deniedRemedy(out *store.Outcome) string {
	if out.Reason != runtime.ReasonBindingMismatch.String() {
		return out.Message
	}
	if slices.Contains(out.Detail.Changed, consent.ChangedQuestion.String()) {
		return "the policy was edited and asks another question now: the agent has to make the call again, which asks anew"
	}
	return "it is not what was approved any more: the agent has to make the call again, which asks anew"
}

// remedy is what to do about a rejection, of which detail says more.
func (v *commandVerb) remedy(reason, detail string) string {
	if v.Kind == inbox.CommandArchive {
		return archiveRemedy(reason)
	}
	if v.Kind == inbox.CommandRevoke {
		return "\"ambit grants list --all\" lists the grants, also those that have ended"
	}
	switch reason {
	case inbox.RejectedNotServed:
		return "the application serves no pages on this machine: set Serve.Addr of its host.Config to a loopback address, and mount console.Mount"
	case inbox.RejectedUnknownToken:
		return unknownToken
	case "not_permitted":
		if v.Token != nil {
			return "the user who owns the store makes and revokes tokens"
		}
		return "the declaration names other approvers than " + cmdutil.Quote(v.By)
	case "self_approval":
		return "the call is made on behalf of " + cmdutil.Quote(v.By) + ", who cannot approve it: somebody else has to"
	case "already_resolved", "request_expired", "unknown_request":
		return "\"ambit approvals list\" lists the requests that wait for answers"
	case consent.TermsChanged.String():
		if detail != "" { // the declaration has changed
			return "the request is still open: deny it, so that the agent makes the call again, which asks anew, or start the former version of the application and approve it there"
		}
		return editedRemedy
	case consent.GrantTooWide.String():
		return v.narrower()
	case consent.EditNotAllowed.String():
		return "the declaration does not let approvers change the arguments (consent.allow_edit): leave out --edit, or deny the call"
	case "drift":
		return "what the call has changed was changed again since: an undo would take that back too"
	case "expired":
		return "the time in which the tool lets its calls be undone is over"
	case string(action.CodeInterrupted):
		return "the executor ended in between: \"ambit calls show\" says how far it came"
	}
	return ""
}

// narrower is what to do about a grant that the declaration does not allow.
func (v *commandVerb) narrower() string {
	const declared = "the declaration and its policies let a grant for this call cover %s at most (consent.max_cover): "
	if v.longest > 0 && v.For > v.longest {
		return fmt.Sprintf("the declaration lets a grant last %s at most (consent.max_for): use --for %s", v.longest, v.longest)
	}
	switch v.widest {
	case runtime.CoverArgs:
		return fmt.Sprintf(declared, v.widest) + "add --cover args --where 'MEMBER eq JSON', use --cover exact, or leave out --grant"
	case runtime.CoverTool: // so it is of an edit, which asks for less
		return "with the edited arguments a grant may cover less: leave out --grant"
	}
	return fmt.Sprintf(declared, v.widest) + "use --cover exact, or leave out --grant to approve this call alone"
}
