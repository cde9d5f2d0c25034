package operate

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/store"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// A groupItem is a session or a run as a list shows it.
type groupItem struct {
	Session string `json:"session"`
	Run     string `json:"run,omitempty"`
	Calls   int    `json:"calls"`
	Entry   uint64 `json:"entry"` // the first of its oldest call
	Began   string `json:"began,omitempty"`
	Latest  string `json:"latest,omitempty"`
	Ended   bool   `json:"ended,omitempty"` // the session, for good
}

func newCallsSessions() *cobra.Command {
	var (
		v     store.Options
		after string
		limit int
	)
	cmd := &cobra.Command{
		Use:     "sessions --store FILE",
		Short:   "List the sessions that have calls, in the order of their ids",
		Example: "  ambit calls sessions --store ambit.db --after SESSION --limit 50",
		Args:    cmdutil.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkLimit(limit, "sessions"); err != nil {
				return err
			}
			return v.With(func(r *sqlite.Reader) error {
				rows, err := r.Sessions(cmd.Context(), after, limit)
				if err != nil {
					return err
				}
				items, cells := groupsOf(rows)
				for i := range items {
					item := &items[i]
					if item.Ended, err = hasEnded(cmd.Context(), r, item.Session); err != nil {
						return err
					}
					cells[i] = append([]string{item.Session}, cells[i]...)
					if item.Ended {
						cells[i] = append(cells[i], "ended")
					} else {
						cells[i] = append(cells[i], "")
					}
				}
				return v.List(cmd.OutOrStdout(), "sessions", items, []string{"SESSION", "CALLS", "BEGAN", "NEWEST CALL", "END"}, cells)
			})
		},
	}
	v.AddFlags(cmd)
	cmd.Flags().StringVar(&after, "after", "", "list the sessions after the one of this `id`, the last of the page before")
	cmd.Flags().IntVar(&limit, "limit", 100, "list at most this `number` of sessions")
	return cmd
}

func newCallsRuns() *cobra.Command {
	var (
		v       store.Options
		session string
		before  uint64
		limit   int
	)
	cmd := &cobra.Command{
		Use:     "runs SESSION --store FILE",
		Short:   "List the runs of a session, the newest first",
		Example: "  ambit calls runs SESSION --store ambit.db",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return cmdutil.Usage(cmdutil.Quote(cmd.CommandPath())+" takes one session, not "+cmdutil.Quote(strings.Join(args, " ")), "leave out "+cmdutil.Quote(strings.Join(args[1:], " ")))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 1 && session != "" && args[0] != session:
				return cmdutil.Usage("runs takes one session, and "+cmdutil.Quote(args[0])+" and --session "+cmdutil.Quote(session)+" are two", "leave out one of them")
			case len(args) == 1:
				session = args[0]
			}
			if session == "" {
				return cmdutil.Usage("runs needs a session", "name it: ambit calls runs SESSION; \"ambit calls sessions\" lists them")
			}
			if err := checkLimit(limit, "runs"); err != nil {
				return err
			}
			return v.With(func(r *sqlite.Reader) error {
				rows, err := r.Runs(cmd.Context(), session, before, limit)
				if err != nil {
					return err
				}
				items, cells := groupsOf(rows)
				for i := range items {
					cells[i] = append([]string{strconv.FormatUint(items[i].Entry, 10), items[i].Run}, cells[i]...)
				}
				return v.List(cmd.OutOrStdout(), "runs", items, []string{"ENTRY", "RUN", "CALLS", "BEGAN", "NEWEST CALL"}, cells)
			})
		},
	}
	v.AddFlags(cmd)
	cmd.Flags().StringVar(&session, "session", "", "`id` of the session, in the place of the argument")
	cmd.Flags().Uint64Var(&before, "before", 0, "list the runs that began before this `entry`, that of the last run of the page before")
	cmd.Flags().IntVar(&limit, "limit", 100, "list at most this `number` of runs")
	return cmd
}

// groupsOf returns the items of rows, and what their cells have in common.
func groupsOf(rows []sqlite.GroupRow) (items []groupItem, cells [][]string) {
	items = []groupItem{}
	for _, g := range rows {
		item := groupItem{Session: g.Session, Run: g.Run, Calls: g.Calls, Entry: g.First, Began: cmdutil.Instant(g.Began), Latest: cmdutil.Instant(g.Latest)}
		items = append(items, item)
		cells = append(cells, []string{strconv.Itoa(g.Calls), item.Began, item.Latest})
	}
	return items, cells
}

// checkLimit refuses a limit that lists nothing.
func checkLimit(limit int, what string) error {
	if limit <= 0 {
		return cmdutil.Usage("--limit: "+strconv.Itoa(limit)+" is no number of "+what, "for example --limit 20")
	}
	return nil
}
