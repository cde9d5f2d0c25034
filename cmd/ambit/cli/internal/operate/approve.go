package operate

import (
	"encoding/json"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/store"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/host/inbox"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
	"github.com/ambit-tools/ambit/runtime/wire"
)

func newApprovalsApprove() *cobra.Command {
	var (
		v     commandVerb
		where []string
		edit  string
		shown string
	)
	cmd := &cobra.Command{
		Use:   "approve (REQUEST | --call ID) --store FILE",
		Short: "Agree to a call",
		Long: `Approve agrees to the call of a request, in the name of the user who runs it. The
id of the request may be cut, as long as one request begins so, or left out and the
call named with --call. With --grant it agrees to later calls too.`,
		Example: `  ambit approvals approve 5XKQ --store ambit.db
  ambit approvals approve 5XKQ --store ambit.db --grant duration --for 1h --cover args --where 'path below "docs"'
  ambit approvals approve 5XKQ --store ambit.db --edit '{"path": "a.md"}'`,
		Args: cmdutil.OptionalPath,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := v.terms(where, edit); err != nil {
				return err
			}
			v.shown = shown
			return v.answer(cmd, args, inbox.CommandApprove)
		},
	}
	v.flags(cmd)
	v.aboutCall(cmd)
	cmd.Flags().StringVar(&v.Lasting, "grant", "once", "what is agreed to: once, duration or session")
	cmd.Flags().DurationVar(&v.For, "for", 0, "how `long` a grant of --grant duration lasts")
	cmd.Flags().StringVar(&v.Cover, "cover", "exact", "which calls a grant covers: exact, args or tool")
	cmd.Flags().StringArrayVar(&where, "where", nil, "of --cover args, what has to hold, as `'MEMBER eq|prefix|below|url|gt|ge|le JSON'`; may be repeated")
	cmd.Flags().StringVar(&edit, "edit", "", "other arguments to run instead, as `JSON` or @FILE")
	cmd.Flags().StringVar(&shown, "binding", "", "of a request that was edited: how the `binding` begins that \"approvals show\" shows")
	return cmd
}

// editedRemedy is what to do about a request that is not as it was shown.
const editedRemedy = "another approver has edited the call: \"ambit approvals show\" shows it as it is now, and the --binding to approve that with"

// terms reads what an approval grants and edits.
func (v *commandVerb) terms(where []string, edit string) error {
	var lasting consent.GrantLifetime
	if err := lasting.UnmarshalText([]byte(v.Lasting)); err != nil {
		return cmdutil.Usage("--grant: "+err.Error(), "one of once, duration and session")
	}
	var cover runtime.GrantCover
	if err := cover.UnmarshalText([]byte(v.Cover)); err != nil {
		return cmdutil.Usage("--cover: "+err.Error(), "one of exact, args and tool")
	}
	if (lasting == consent.ForDuration) != (v.For > 0) {
		return cmdutil.Usage("--grant duration and --for belong together", "for example --grant duration --for 1h")
	}
	for _, text := range where {
		p, err := consent.ParsePredicate(text)
		if err != nil {
			return cmdutil.Usage("--where: "+err.Error(), `for example --where 'path below "docs"'`)
		}
		v.Where = append(v.Where, p)
	}
	if name, isFile := strings.CutPrefix(edit, "@"); isFile {
		text, err := os.ReadFile(name)
		if err != nil {
			return cmdutil.Problem(err.Error(), "")
		}
		edit = string(text)
	}
	if edit != "" {
		if _, bad := wire.ParseRaw([]byte(edit), wire.Limits{Size: inbox.MaxCommand}); bad != nil {
			return cmdutil.Usage("--edit: that is no JSON: "+bad[0].String(), "")
		}
		v.Edit = json.RawMessage(edit)
	}
	return nil
}

func newApprovalsDeny() *cobra.Command {
	var v commandVerb
	cmd := &cobra.Command{
		Use:     "deny (REQUEST | --call ID) --store FILE",
		Short:   "Say no to a call",
		Long:    "Deny says no to the call of a request. The reason is told to the model.",
		Example: `  ambit approvals deny 5XKQ --store ambit.db --reason "not on a Friday"`,
		Args:    cmdutil.OptionalPath,
		RunE: func(cmd *cobra.Command, args []string) error {
			return v.answer(cmd, args, inbox.CommandDeny)
		},
	}
	v.flags(cmd)
	v.aboutCall(cmd)
	return cmd
}

// answer sends an answer to a request, which is named or that of a call.
func (v *commandVerb) answer(cmd *cobra.Command, typed []string, kind string) error {
	if (len(typed) == 0) == (v.Call == "") {
		return cmdutil.Usage(cmd.Name()+" needs either a request or a call", "name the request, or add --call ID")
	}
	return v.With(func(r *sqlite.Reader) error {
		q, err := requestNamed(cmd.Context(), r, typed, &store.CallID{Session: v.Session, Call: v.Call})
		if err != nil {
			return err
		}
		v.Kind, v.Request, v.Session, v.Call = kind, q.ID, "", ""
		if v.shown != "" {
			if len(v.shown) < 8 || !strings.HasPrefix(q.Binding.String(), strings.ToLower(v.shown)) {
				return cmdutil.Problem("the binding of request "+cmdutil.Quote(q.ID)+" does not begin with "+cmdutil.Quote(v.shown), editedRemedy)
			}
			v.Binding = q.Binding
		}
		v.widest, v.longest = q.Requirement.MaxCover, q.Requirement.MaxFor
		return v.send(cmd, r, &journal.CallKey{Session: q.Session, Call: q.CallID})
	})
}
