package operate

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/store"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/host/terminal"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// NewApprovals returns "ambit approvals".
func NewApprovals() *cobra.Command {
	return cmdutil.NewGroup("approvals", "See what waits for somebody's consent, and answer",
		newApprovalsList(), newApprovalsShow(), newApprovalsApprove(), newApprovalsDeny())
}

func newApprovalsList() *cobra.Command {
	var (
		v      store.Options
		ended  bool
		before string
		limit  int
	)
	cmd := &cobra.Command{
		Use:   "list --store FILE",
		Short: "List the requests that wait for answers, the oldest first",
		Long: `List prints the requests that wait for answers, the oldest first, or with --ended
those that need no answer any more, the newest first, with what became of them.`,
		Args: cmdutil.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkLimit(limit, "requests"); err != nil {
				return err
			}
			return v.With(func(r *sqlite.Reader) error {
				list, err := requestsOf(cmd.Context(), r, ended, before, limit)
				if err != nil {
					return err
				}
				last := "EXPIRES"
				if ended {
					last = "STATUS"
				}
				var cells [][]string
				for i := range list {
					q := &list[i]
					fill(q)
					cell := cmdutil.Instant(q.Expires)
					if ended {
						cell = q.Status.String()
					}
					cells = append(cells, []string{q.ID, q.Session, q.CallID, q.Tool, q.Principal, strings.Join(q.Requirement.Approvers, ", "), cell})
				}
				return v.List(cmd.OutOrStdout(), "requests", list,
					[]string{"REQUEST", "SESSION", "CALL", "TOOL", "PRINCIPAL", "APPROVERS", last}, cells)
			})
		},
	}
	v.AddFlags(cmd)
	cmd.Flags().BoolVar(&ended, "ended", false, "list the requests that have ended")
	cmd.Flags().StringVar(&before, "before", "", "with --ended, only requests that were made before this `request`: the next page begins behind the last one")
	cmd.Flags().IntVar(&limit, "limit", 100, "with --ended, list at most this `number` of requests")
	return cmd
}

// requestsOf returns the requests that wait for answers, or at most limit of those that have ended, made before another one.
func requestsOf(ctx context.Context, r *sqlite.Reader, ended bool, before string, limit int) ([]consent.Request, error) {
	now := time.Now()
	if !ended {
		book, err := store.Books(ctx, r, journal.RequestFilter{At: now, Waiting: true})
		if err != nil {
			return nil, err
		}
		return waiting(book, now), nil
	}
	f := journal.RequestFilter{At: now, Ended: true, Limit: limit}
	if before != "" {
		id, at, err := store.PlaceOfRequest(ctx, r, before)
		if err != nil {
			return nil, err
		}
		before, f.Before, f.Limit = id, at+1, limit+1 // with that request
	}
	book, err := store.Books(ctx, r, f)
	if err != nil {
		return nil, err
	}
	list := book.Ended(now, "", f.Limit)
	behind := slices.IndexFunc(list, func(q consent.Request) bool { return q.ID == before }) + 1
	return list[behind:min(behind+limit, len(list))], nil
}

// waiting returns the requests that can still be answered.
func waiting(book *consent.Books, now time.Time) []consent.Request {
	open := []consent.Request{}
	for _, q := range book.Open() {
		if now.Before(q.Expires) {
			open = append(open, q)
		}
	}
	return open
}

// fill puts the arguments into the messages of a request, as they are shown to a
// person. It is done once: an argument may look like a placeholder.
func fill(q *consent.Request) {
	q.Message = terminal.Fill(q.Message, q.Args)
	q.Reasons = slices.Clone(q.Reasons)
	for i := range q.Reasons {
		q.Reasons[i].Message = terminal.Fill(q.Reasons[i].Message, q.Args)
	}
}

func newApprovalsShow() *cobra.Command {
	var (
		v    store.Options
		id   store.CallID
		decl declaration
	)
	cmd := &cobra.Command{
		Use:   "show (REQUEST | --call ID) --store FILE",
		Short: "Show what a request is about, and what its call would do",
		Args:  cmdutil.OptionalPath,
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) == 0) == (id.Call == "") {
				return cmdutil.Usage("show needs either a request or a call", "name the request, or add --call ID")
			}
			if err := decl.load(); err != nil {
				return err
			}
			return v.With(func(r *sqlite.Reader) error {
				q, err := requestNamed(cmd.Context(), r, args, &id)
				if err != nil {
					return err
				}
				c, err := decl.ofRequest(cmd.Context(), r, &q)
				if err != nil {
					return err
				}
				if v.AsJSON {
					fill(&q)
					return cmdutil.PrintJSON(cmd.OutOrStdout(), requestView{q, c})
				}
				printRequest(cmd.OutOrStdout(), &q, c)
				return nil
			})
		},
	}
	v.AddFlags(cmd)
	id.AddFlags(cmd)
	decl.addFlag(cmd)
	return cmd
}

// A requestView is a request with what its call would run.
type requestView struct {
	consent.Request

	Command *commandView `json:"command,omitempty"` // nil: its tool has a handler
}

// requestNamed returns the request of an argument, or else of a call.
func requestNamed(ctx context.Context, r *sqlite.Reader, args []string, id *store.CallID) (consent.Request, error) {
	if len(args) > 0 {
		return store.FindRequest(ctx, r, args[0])
	}
	return store.FindRequestOfCall(ctx, r, id.Session, id.Call)
}

// printRequest prints a request for people.
func printRequest(w io.Writer, asked *consent.Request, runs *commandView) {
	filled := *asked
	q := &filled
	fill(q)
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%-10s %s\n", name, terminal.Escape(value))
		}
	}
	line("request", q.ID)
	line("status", q.Status.String())
	line("call", q.CallID)
	line("tool", strings.Join(cmdutil.NonEmpty(q.Tool, q.Effect), ", "))
	line("session", q.Session)
	line("principal", q.Principal)
	line("agent", q.Agent)
	var args any
	if json.Unmarshal(q.Args, &args) == nil {
		line("args", string(q.Args))
	}
	runs.print(w, "would run")
	if !slices.ContainsFunc(q.Reasons, func(r consent.Reason) bool { return r.Message == q.Message }) {
		line("message", q.Message)
	}
	for _, reason := range q.Reasons {
		line("because", strings.Join(cmdutil.NonEmpty(reason.Code, reason.Message, reason.At), ": "))
		line("for", string(reason.Bound))
	}
	for _, o := range q.Obligations {
		line("condition", strings.TrimSpace(o.Code+" "+string(o.Args)))
	}
	line("approvers", strings.Join(q.Requirement.Approvers, ", "))
	if q.Requirement.Quorum > 1 {
		line("wanted", cmdutil.Count(q.Requirement.Quorum, "approval"))
	}
	for _, vote := range q.Votes {
		line("approved", "by "+vote.By+" at "+cmdutil.Instant(vote.At))
	}
	if q.EditedBy != "" {
		by := "by " + q.EditedBy
		if q.Rewritten {
			by += ", and then by the policy"
		}
		line("edited", by+": approve with --binding "+q.Binding.String()[:16])
	}
	line("widest", fmt.Sprintf("%s, for %s at most", q.Requirement.MaxCover, q.Requirement.MaxFor))
	line("expires", cmdutil.Instant(q.Expires))
	if q.Preview != nil {
		fmt.Fprintln(w)
		for text := range strings.SplitSeq(strings.TrimSuffix(q.Preview.Text, "\n"), "\n") {
			fmt.Fprintln(w, "  "+terminal.Escape(text))
		}
	}
}
