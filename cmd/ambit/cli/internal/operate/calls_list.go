package operate

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/store"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// A callItem is a call as a list shows it.
type callItem struct {
	Entry    uint64  `json:"entry"` // its first
	Session  string  `json:"session"`
	Run      string  `json:"run"`
	Call     string  `json:"call"`
	Tool     string  `json:"tool"`
	Outcome  string  `json:"outcome,omitempty"` // none: it has not ended and does not wait for consent
	Reason   string  `json:"reason,omitempty"`
	Duration float64 `json:"duration_ms,omitempty"`
	Last     string  `json:"last_event"`
	Began    string  `json:"began,omitempty"`
	Ended    string  `json:"ended,omitempty"`
}

// A callQuery says which calls are listed.
type callQuery struct {
	sqlite.CallFilter
	outcome    string
	since      string
	unresolved bool
}

func newCallsList() *cobra.Command {
	var (
		v store.Options
		q callQuery
	)
	cmd := &cobra.Command{
		Use:   "list --store FILE",
		Short: "List calls, the newest first",
		Long: `List prints calls, the newest first, with the outcome that each has now, why, how
long it took and how long ago it began. A call that waits for consent is pending;
one that runs has no outcome yet.

--unresolved lists the calls whose outcome is unknown, until "ambit resolve", an
undo or the tool's reconcile handler has said what became of them.`,
		Example: `  ambit calls list --store ambit.db --unfinished
  ambit calls list --store ambit.db --outcome failed --tool pay --since 24h
  ambit calls list --store ambit.db --unresolved`,
		Args: cmdutil.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			now := time.Now()
			if err := q.read(now); err != nil {
				return err
			}
			return v.With(func(r *sqlite.Reader) error {
				items, cells, err := q.list(cmd.Context(), r, now)
				if err != nil {
					return err
				}
				return v.List(cmd.OutOrStdout(), "calls", items,
					[]string{"SESSION", "RUN", "CALL", "TOOL", "OUTCOME", "REASON", "DURATION", "AGE", "LAST EVENT"}, cells)
			})
		},
	}
	v.AddFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&q.Session, "session", "", "only calls of the session of this `id`, or whose id begins so")
	f.StringVar(&q.Run, "run", "", "only calls of the run of this `id`, or whose id begins so")
	f.StringVar(&q.Tool, "tool", "", "only calls recorded under this `name` of a tool: those from before a rename have the earlier name")
	f.StringVar(&q.outcome, "outcome", "", "only calls with this `outcome`, such as failed")
	f.StringVar(&q.since, "since", "", "only calls that began since this `time`: 2h, 2026-11-20 or 2026-11-20T11:11:45Z")
	f.BoolVar(&q.Unfinished, "unfinished", false, "only calls that have no outcome")
	f.BoolVar(&q.unresolved, "unresolved", false, "only calls whose outcome is unknown")
	f.Uint64Var(&q.Before, "before", 0, "only calls whose first entry is before this `entry`: the next page begins at that of the last call")
	f.IntVar(&q.Limit, "limit", 100, "list at most this `number` of calls")
	return cmd
}

// read reads what was typed.
func (q *callQuery) read(now time.Time) error {
	if err := checkLimit(q.Limit, "calls"); err != nil {
		return err
	}
	if q.outcome != "" && new(runtime.OutcomeKind).UnmarshalText([]byte(q.outcome)) != nil {
		var kinds []string
		for k := runtime.OutcomeKind(0); new(runtime.OutcomeKind).UnmarshalText([]byte(k.String())) == nil; k++ {
			kinds = append(kinds, k.String())
		}
		return cmdutil.Usage("--outcome: there is no outcome "+cmdutil.Quote(q.outcome), "one of "+strings.Join(kinds, ", "))
	}
	if q.since != "" {
		at, err := cmdutil.Since(q.since, now)
		if err != nil {
			return err
		}
		q.Since = at
	}
	return nil
}

// list returns the calls that q wants, with the cells of their rows.
func (q *callQuery) list(ctx context.Context, r *sqlite.Reader, now time.Time) (items []callItem, cells [][]string, err error) {
	if err := q.exactly(ctx, r); err != nil {
		return nil, nil, err
	}
	items, f := []callItem{}, q.CallFilter
	f.Unresolved = q.unresolved
	for f.Limit = store.PageSize; len(items) < q.Limit; {
		rows, err := r.Calls(ctx, f)
		if err != nil {
			return nil, nil, err
		}
		for i := range rows {
			item, wanted, err := q.item(ctx, r, &rows[i])
			if err != nil {
				return nil, nil, err
			}
			if wanted && len(items) < q.Limit {
				items = append(items, item)
				cells = append(cells, item.cells(rows[i].OpenedAt, now))
			}
		}
		if len(rows) < f.Limit {
			break
		}
		f.Before = rows[len(rows)-1].First
	}
	return items, cells, nil
}

// exactly makes q look for the session and the run of the ids that were typed, or,
// where the store has none, for ids that begin so.
func (q *callQuery) exactly(ctx context.Context, r *sqlite.Reader) error {
	rows, err := r.Calls(ctx, sqlite.CallFilter{Session: q.Session, Run: q.Run, Limit: 1})
	q.Prefix = len(rows) == 0
	return err
}

// item returns a call as it is listed, and whether it is wanted.
func (q *callQuery) item(ctx context.Context, r *sqlite.Reader, row *sqlite.CallRow) (item callItem, wanted bool, err error) {
	item = callItem{
		Entry: row.First, Session: row.Session, Run: row.Run, Call: row.Call, Tool: row.Tool, Last: row.Kind, Began: cmdutil.Instant(row.OpenedAt), Ended: cmdutil.Instant(row.EndedAt),
	}
	unresolved := false
	switch {
	case row.Ended > 0:
		unresolved, err = item.ended(ctx, r, row)
	case row.Kind == runtime.EventApprovalRequested.String(), row.Kind == runtime.EventApprovalExpiring.String():
		item.Outcome, item.Reason = runtime.Pending.String(), runtime.ReasonConsentRequired.String()
	}
	return item, (q.outcome == "" || q.outcome == item.Outcome) && (!q.unresolved || unresolved), err
}

// ended adds how a call has ended. It reports whether that is still unknown.
func (i *callItem) ended(ctx context.Context, r *sqlite.Reader, row *sqlite.CallRow) (unresolved bool, err error) {
	var list []journal.Entry
	if row.Last == row.Ended { // most have no more to say
		list, err = r.Read(ctx, row.Ended-1, 1)
	} else {
		list, err = r.Call(ctx, row.CallKey)
	}
	if err != nil {
		return false, err
	}
	undone := false
	for e := range list {
		rec, err := store.Decode(&list[e])
		if err != nil {
			return false, err
		}
		undone = undone || rec.Kind == runtime.EventUndone.String()
		if out := store.OutcomeOf(rec); out != nil {
			i.Outcome, i.Reason = out.Outcome, out.Reason
			if rec.Duration > 0 {
				i.Duration = float64(rec.Duration) / float64(time.Millisecond)
			}
		}
	}
	return i.Outcome == runtime.Unknown.String() && !undone, nil
}

// cells returns the cells of the row of a call.
func (i *callItem) cells(began, now time.Time) []string {
	took, age := "", ""
	if i.Duration > 0 {
		took = shortDuration(time.Duration(i.Duration * float64(time.Millisecond)))
	}
	if !began.IsZero() {
		age = shortDuration(max(now.Sub(began), time.Second))
	}
	reason := i.Reason
	if reason == i.Outcome {
		reason = ""
	}
	return []string{i.Session, i.Run, i.Call, i.Tool, i.Outcome, reason, took, age, i.Last}
}

// shortDuration prints a duration with its largest unit: 340µs, 12ms, 3s, 5m, 7h, 2d.
func shortDuration(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%dµs", d.Microseconds())
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}
