package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/sqlite"
	"github.com/ambit-tools/ambit/runtime/terminal"
)

func newApprovals() *cobra.Command {
	return newGroup("approvals", "See what waits for somebody's consent, and answer",
		newApprovalsList(), newApprovalsShow(), newApprovalsApprove(), newApprovalsDeny())
}

func newApprovalsList() *cobra.Command {
	var v storeVerb
	cmd := &cobra.Command{
		Use:   "list --store FILE",
		Short: "List the requests that wait for answers, the oldest first",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return v.with(func(r *sqlite.Reader) error {
				book, err := bookOf(cmd.Context(), r)
				if err != nil {
					return err
				}
				open := waiting(book, time.Now())
				var cells [][]string
				for i := range open {
					q := &open[i]
					fill(q)
					cells = append(cells, []string{q.ID, q.Session, q.CallID, q.Tool, q.Principal, strings.Join(q.Requirement.Approvers, ", "), instant(q.Expires)})
				}
				return v.list(cmd.OutOrStdout(), "requests", open,
					[]string{"REQUEST", "SESSION", "CALL", "TOOL", "PRINCIPAL", "APPROVERS", "EXPIRES"}, cells)
			})
		},
	}
	v.flags(cmd)
	return cmd
}

// waiting returns the requests that can still be answered.
func waiting(book *consent.Book, now time.Time) []consent.Request {
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
		v  storeVerb
		id callID
	)
	cmd := &cobra.Command{
		Use:   "show (REQUEST | --call ID) --store FILE",
		Short: "Show what a request is about, and what its call would do",
		Args:  oneOrNone,
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) == 0) == (id.call == "") {
				return usage("show needs either a request or a call", "name the request, or add --call ID")
			}
			return v.with(func(r *sqlite.Reader) error {
				book, err := bookOf(cmd.Context(), r)
				if err != nil {
					return err
				}
				q, err := requestNamed(book, args, &id)
				if err != nil {
					return err
				}
				if v.asJSON {
					fill(&q)
					return printJSON(cmd.OutOrStdout(), q)
				}
				printRequest(cmd.OutOrStdout(), &q)
				return nil
			})
		},
	}
	v.flags(cmd)
	id.flags(cmd)
	return cmd
}

// requestNamed returns the request of an argument, or else of a call.
func requestNamed(book *consent.Book, args []string, id *callID) (consent.Request, error) {
	if len(args) > 0 {
		return findRequest(book, args[0])
	}
	return requestOf(book, id.session, id.call)
}

// printRequest prints a request for people.
func printRequest(w io.Writer, asked *consent.Request) {
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
	line("tool", strings.Join(nonEmpty(q.Tool, q.Effect), ", "))
	line("session", q.Session)
	line("principal", q.Principal)
	line("agent", q.Agent)
	var args any
	if json.Unmarshal(q.Args, &args) == nil {
		line("args", string(q.Args))
	}
	if !slices.ContainsFunc(q.Reasons, func(r consent.Reason) bool { return r.Message == q.Message }) {
		line("message", q.Message)
	}
	for _, reason := range q.Reasons {
		line("because", strings.Join(nonEmpty(reason.Code, reason.Message, reason.At), ": "))
	}
	for _, o := range q.Obligations {
		line("condition", strings.TrimSpace(o.Code+" "+string(o.Args)))
	}
	line("approvers", strings.Join(q.Requirement.Approvers, ", "))
	if q.Requirement.Quorum > 1 {
		line("wanted", count(q.Requirement.Quorum, "approval"))
	}
	for _, vote := range q.Votes {
		line("approved", "by "+vote.By+" at "+instant(vote.At))
	}
	line("widest", fmt.Sprintf("%s, for %s at most", q.Requirement.MaxCover, q.Requirement.MaxFor))
	line("expires", instant(q.Expires))
	if q.Preview != nil {
		fmt.Fprintln(w)
		for text := range strings.SplitSeq(strings.TrimSuffix(q.Preview.Text, "\n"), "\n") {
			fmt.Fprintln(w, "  "+terminal.Escape(text))
		}
	}
}
