package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/sqlite"
)

func newGrants() *cobra.Command {
	return newGroup("grants", "See which calls need no consent any more, and take that back",
		newGrantsList(), newGrantsRevoke())
}

func newGrantsList() *cobra.Command {
	var (
		v   storeVerb
		all bool
	)
	cmd := &cobra.Command{
		Use:   "list --store FILE",
		Short: "List the grants that can answer something now, the oldest first",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return v.with(func(r *sqlite.Reader) error {
				book, err := bookOf(cmd.Context(), r)
				if err != nil {
					return err
				}
				now := time.Now()
				list, cells := []consent.Grant{}, [][]string{}
				for _, g := range book.Grants() {
					if !all && !g.Live(now) {
						continue
					}
					list = append(list, g)
					until := instant(g.Expires)
					switch {
					case !g.Revoked.IsZero():
						until = "revoked"
					case until == "":
						until = "session"
					}
					cells = append(cells, []string{g.ID, g.Session, g.Principal, g.Tool, g.Cover.String(), count(g.Uses, "call"), until})
				}
				return v.list(cmd.OutOrStdout(), "grants", list,
					[]string{"GRANT", "SESSION", "PRINCIPAL", "TOOL", "COVERS", "USED FOR", "UNTIL"}, cells)
			})
		},
	}
	v.flags(cmd)
	cmd.Flags().BoolVar(&all, "all", false, "list those that have ended, too")
	return cmd
}

func newGrantsRevoke() *cobra.Command {
	var v commandVerb
	cmd := &cobra.Command{
		Use:   "revoke GRANT --store FILE",
		Short: "Take a grant back",
		Args:  oneID("the id of a grant"),
		RunE: func(cmd *cobra.Command, args []string) error {
			v.Kind, v.Grant = runtime.CommandRevoke, args[0]
			return v.with(func(r *sqlite.Reader) error { return v.send(cmd, r, nil) })
		},
	}
	v.flags(cmd)
	return cmd
}
