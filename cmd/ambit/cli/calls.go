package cli

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/sqlite"
)

func newCalls() *cobra.Command {
	return newGroup("calls", "Look at the calls that an application has made",
		newCallsList(), newCallsShow())
}

// A callItem is a call as a list shows it.
type callItem struct {
	Session string `json:"session"`
	Run     string `json:"run"`
	Call    string `json:"call"`
	Tool    string `json:"tool"`
	Last    string `json:"last_event"`
	Began   string `json:"began,omitempty"`
	Ended   string `json:"ended,omitempty"`
}

func newCallsList() *cobra.Command {
	var (
		v storeVerb
		f sqlite.CallFilter
	)
	cmd := &cobra.Command{
		Use:     "list --store FILE",
		Short:   "List calls, the newest first",
		Example: `  ambit calls list --store ambit.db --unfinished`,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return v.with(func(r *sqlite.Reader) error {
				rows, err := r.Calls(cmd.Context(), f)
				if err != nil {
					return err
				}
				items, cells := []callItem{}, [][]string{}
				for _, c := range rows {
					i := callItem{c.Session, c.Run, c.Call, c.Tool, c.Kind, instant(c.OpenedAt), instant(c.EndedAt)}
					items = append(items, i)
					cells = append(cells, []string{i.Session, i.Run, i.Call, i.Tool, i.Last, i.Began, i.Ended})
				}
				return v.list(cmd.OutOrStdout(), "calls", items,
					[]string{"SESSION", "RUN", "CALL", "TOOL", "LAST EVENT", "BEGAN", "ENDED"}, cells)
			})
		},
	}
	v.flags(cmd)
	cmd.Flags().StringVar(&f.Session, "session", "", "only calls of the session of this `id`")
	cmd.Flags().StringVar(&f.Run, "run", "", "only calls of the run of this `id`")
	cmd.Flags().StringVar(&f.Tool, "tool", "", "only calls of the tool of this `name`")
	cmd.Flags().BoolVar(&f.Unfinished, "unfinished", false, "only calls that have no outcome")
	cmd.Flags().IntVar(&f.Limit, "limit", 100, "list at most this `number` of calls")
	return cmd
}

// An outcome is what is shown of one.
type outcome struct {
	Outcome string `json:"outcome"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// outcomeOf returns the outcome in a record, nil when there is none.
func outcomeOf(r *journal.Record) *outcome {
	if len(r.Outcome) == 0 {
		return nil
	}
	var out outcome
	if json.Unmarshal(r.Outcome, &out) != nil {
		return nil
	}
	return &out
}
