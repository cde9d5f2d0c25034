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

// findRequest returns the request whose id is, or begins with, what was typed.
func findRequest(book *consent.Book, typed string) (consent.Request, error) {
	if q, ok := book.Request(typed); ok {
		return q, nil
	}
	var found []consent.Request
	for _, q := range book.Open() {
		if strings.HasPrefix(q.ID, typed) {
			found = append(found, q)
		}
	}
	switch len(found) {
	case 0:
		return consent.Request{}, problem("there is no request "+quote(typed), "\"ambit approvals list\" lists those that wait for answers")
	case 1:
		return found[0], nil
	}
	return consent.Request{}, usage(count(len(found), "request")+" begin with "+quote(typed), "type more of it")
}

// requestOf returns the latest request about a call.
func requestOf(book *consent.Book, session, call string) (found consent.Request, err error) {
	for _, q := range book.Requests() {
		switch {
		case q.CallID != call || session != "" && session != q.Session:
			continue
		case found.ID != "" && found.Session != q.Session:
			return q, usage("there is a call "+quote(call)+" in session "+quote(found.Session)+" and in session "+quote(q.Session), "add --session ID")
		}
		found = q
	}
	if found.ID == "" {
		return found, problem("nobody was asked about a call "+quote(call), "\"ambit approvals list\" lists what waits for answers")
	}
	return found, nil
}

func newApprovalsShow() *cobra.Command {
	var v storeVerb
	cmd := &cobra.Command{
		Use:   "show REQUEST --store FILE",
		Short: "Show what a request is about, and what its call would do",
		Args:  oneID("the id of a request, or how it begins"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return v.with(func(r *sqlite.Reader) error {
				book, err := bookOf(cmd.Context(), r)
				if err != nil {
					return err
				}
				q, err := findRequest(book, args[0])
				if err != nil {
					return err
				}
				if v.asJSON {
					return printJSON(cmd.OutOrStdout(), q)
				}
				printRequest(cmd.OutOrStdout(), &q)
				return nil
			})
		},
	}
	v.flags(cmd)
	return cmd
}

// printRequest prints a request for people.
func printRequest(w io.Writer, q *consent.Request) {
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
		line("message", terminal.Fill(q.Message, q.Args))
	}
	for _, reason := range q.Reasons {
		line("because", strings.Join(nonEmpty(reason.Code, terminal.Fill(reason.Message, q.Args), reason.At), ": "))
	}
	line("approvers", strings.Join(q.Requirement.Approvers, ", "))
	if q.Requirement.Quorum > 1 {
		line("wanted", count(q.Requirement.Quorum, "approval"))
	}
	for _, vote := range q.Votes {
		line("approved", "by "+vote.By+" at "+instant(vote.At))
	}
	line("widest", q.Requirement.MaxCover.String())
	line("expires", instant(q.Expires))
	if q.Preview != nil {
		fmt.Fprintln(w)
		for text := range strings.SplitSeq(strings.TrimSuffix(q.Preview.Text, "\n"), "\n") {
			fmt.Fprintln(w, "  "+terminal.Escape(text))
		}
	}
}
