package operate

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/store"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/host/inbox"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// NewGrants returns "ambit grants".
func NewGrants() *cobra.Command {
	return cmdutil.NewGroup("grants", "See which calls need no consent any more, and take that back",
		newGrantsList(), newGrantsRevoke())
}

func newGrantsList() *cobra.Command {
	var (
		v   store.Options
		all bool
	)
	cmd := &cobra.Command{
		Use:   "list --store FILE",
		Short: "List the grants that can answer something now, the oldest first",
		Args:  cmdutil.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return v.With(func(r *sqlite.Reader) error {
				now := time.Now()
				book, err := store.Books(cmd.Context(), r, journal.RequestFilter{At: now, Granted: true, Live: !all})
				if err != nil {
					return err
				}
				list, cells := []grantItem{}, [][]string{}
				for _, g := range book.Grants() {
					if !all && !g.Live(now) {
						continue
					}
					item := grantItem{g, conditions(book, &g)}
					list = append(list, item)
					until := cmdutil.Instant(g.Expires)
					switch {
					case !g.Revoked.IsZero():
						until = "revoked"
					case until == "":
						until = "session"
					}
					cells = append(cells, []string{g.ID, g.Session, g.Principal, g.Tool, g.Cover.String(), cmdutil.Count(g.Uses, "call"), until, item.Conditions})
				}
				return v.List(cmd.OutOrStdout(), "grants", list,
					[]string{"GRANT", "SESSION", "PRINCIPAL", "TOOL", "COVERS", "USED FOR", "UNTIL", "CONDITIONS"}, cells)
			})
		},
	}
	v.AddFlags(cmd)
	cmd.Flags().BoolVar(&all, "all", false, "list those that have ended, too")
	return cmd
}

// A grantItem is a grant as a list shows it.
type grantItem struct {
	consent.Grant
	Conditions string `json:"conditions"`
}

// conditions says which calls of its tool a grant answers for, or why for none.
func conditions(book *consent.Books, g *consent.Grant) string {
	text := covered(book, g)
	if err := g.Never(); err != nil {
		text += " (answers nothing: " + err.Error() + ")"
	}
	return text
}

// covered says which calls of its tool a grant was given for.
func covered(book *consent.Books, g *consent.Grant) string {
	switch g.Cover {
	case runtime.CoverExact:
		if q, ok := book.Request(g.ID); ok && len(q.Args) > 0 {
			return "arguments " + string(cmdutil.OneLine(q.Args))
		}
		return "the same arguments"
	case runtime.CoverArgs:
		parts := make([]string, len(g.Where))
		for i, p := range g.Where {
			parts[i] = p.Member + " " + p.Op.String() + " " + string(cmdutil.OneLine(p.Value))
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
		Args:  cmdutil.OneID("the id of a grant, or how it begins"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return v.With(func(r *sqlite.Reader) error {
				var err error
				if v.Grant, err = store.FindGrant(cmd.Context(), r, args[0]); err != nil {
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
