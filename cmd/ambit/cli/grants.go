package cli

import (
	"strings"
	"time"

	"github.com/ambit-tools/ambit/runtime/inbox"

	"github.com/spf13/cobra"

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
				list, cells := []grantItem{}, [][]string{}
				for _, g := range book.Grants() {
					if !all && !g.Live(now) {
						continue
					}
					item := grantItem{g, conditions(book, &g)}
					list = append(list, item)
					until := instant(g.Expires)
					switch {
					case !g.Revoked.IsZero():
						until = "revoked"
					case until == "":
						until = "session"
					}
					cells = append(cells, []string{g.ID, g.Session, g.Principal, g.Tool, g.Cover.String(), count(g.Uses, "call"), until, item.Conditions})
				}
				return v.list(cmd.OutOrStdout(), "grants", list,
					[]string{"GRANT", "SESSION", "PRINCIPAL", "TOOL", "COVERS", "USED FOR", "UNTIL", "CONDITIONS"}, cells)
			})
		},
	}
	v.flags(cmd)
	cmd.Flags().BoolVar(&all, "all", false, "list those that have ended, too")
	return cmd
}

// A grantItem is a grant as a list shows it.
type grantItem struct {
	consent.Grant
	Conditions string `json:"conditions"`
}

// conditions says which calls of its tool a grant answers for.
func conditions(book *consent.Book, g *consent.Grant) string {
	switch g.Cover {
	case consent.CoverExact:
		if q, ok := book.Request(g.ID); ok && len(q.Args) > 0 {
			return "arguments " + string(oneLine(q.Args))
		}
		return "the same arguments"
	case consent.CoverArgs:
		parts := make([]string, len(g.Where))
		for i, p := range g.Where {
			parts[i] = p.Member + " " + p.Op.String() + " " + string(oneLine(p.Value))
		}
		if len(parts) > 0 {
			return strings.Join(parts, " and ")
		}
	}
	return "any arguments"
}

func newGrantsRevoke() *cobra.Command {
	var v commandVerb
	cmd := &cobra.Command{
		Use:   "revoke GRANT --store FILE",
		Short: "Take a grant back",
		Long:  "Revoke takes a grant back. Its id may be cut, as long as one grant begins so.",
		Args:  oneID("the id of a grant, or how it begins"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return v.with(func(r *sqlite.Reader) error {
				book, err := bookOf(cmd.Context(), r)
				if err != nil {
					return err
				}
				if v.Grant, err = findGrant(book, args[0]); err != nil {
					return err
				}
				v.Kind = inbox.CommandRevoke
				return v.send(cmd, r, nil)
			})
		},
	}
	v.flags(cmd)
	return cmd
}
