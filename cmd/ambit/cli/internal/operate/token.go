package operate

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/store"
	"github.com/ambit-tools/ambit/runtime/host/inbox"
	"github.com/ambit-tools/ambit/runtime/host/tokens"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// NewToken returns "ambit token".
func NewToken() *cobra.Command {
	return cmdutil.NewGroup("token", "Let programs and people reach the stream of an application",
		newTokenCreate(), newTokenList(), newTokenRevoke())
}

// A tokenView is how "--json" shows a token.
type tokenView struct {
	tokens.Token
	Text string `json:"token,omitempty"` // when it was made: what its holder sends
}

func newTokenCreate() *cobra.Command {
	var (
		v      commandVerb
		groups []string
	)
	cmd := &cobra.Command{
		Use:   "create ID --store FILE",
		Short: "Make a bearer token for an id, and print it once",
		Long: `Create makes a bearer token. Its holder acts as ID, and as a member of the groups. What ID may
do is for the operator policy to say. The store keeps a hash: the token cannot be printed again.`,
		Example: `  ambit token create dashboard --store ambit.db --group support`,
		Args:    cmdutil.OneID("the id that its holder acts as"),
		RunE: func(cmd *cobra.Command, args []string) error {
			token, text, err := tokens.New(args[0], groups)
			if err != nil {
				return cmdutil.Usage(err.Error(), "")
			}
			v.Kind, v.Token, v.token = inbox.CommandTokenCreate, &token, tokenView{token, text}
			return v.changeTokens(cmd, func(ctx context.Context, f *tokens.File) error { return f.Add(ctx, token) })
		},
	}
	v.flags(cmd)
	cmd.Flags().StringArrayVar(&groups, "group", nil, "`name` of a group that the id belongs to; repeatable")
	return cmd
}

func newTokenRevoke() *cobra.Command {
	var v commandVerb
	cmd := &cobra.Command{
		Use:   "revoke NAME --store FILE",
		Short: "Revoke a bearer token, and end its streams",
		Args:  cmdutil.OneID("the name of a token, as \"ambit token list\" shows it"),
		RunE: func(cmd *cobra.Command, args []string) error {
			v.Kind, v.Token = inbox.CommandTokenRevoke, &tokens.Token{Name: args[0]}
			v.token = tokenView{Token: *v.Token}
			return v.changeTokens(cmd, func(ctx context.Context, f *tokens.File) error { return f.Revoke(ctx, args[0]) })
		},
	}
	v.flags(cmd)
	return cmd
}

// changeTokens has the executor of the store change its tokens. Where there is none it changes the
// file itself, and looks again: one that has started meanwhile may have read the file before.
func (v *commandVerb) changeTokens(cmd *cobra.Command, change func(context.Context, *tokens.File) error) error {
	return v.With(func(r *sqlite.Reader) error {
		served, err := inbox.Served(r)
		if err != nil {
			return err
		}
		if served {
			return v.send(cmd, r, nil)
		}
		err = change(cmd.Context(), tokens.Open(tokens.FileOf(v.Path)))
		if errors.Is(err, tokens.ErrUnknown) {
			return cmdutil.Problem(err.Error(), unknownToken)
		}
		if err != nil {
			return cmdutil.Problem(err.Error(), "run ambit as the user that the application runs as")
		}
		if served, err = inbox.Served(r); err != nil || served {
			return errors.Join(err, inbox.Put(cmd.Context(), r, &v.Command))
		}
		if v.AsJSON {
			return cmdutil.PrintJSON(cmd.OutOrStdout(), v.token)
		}
		_, err = fmt.Fprintln(cmd.OutOrStdout(), v.tokenDone())
		return err
	})
}

const unknownToken = "\"ambit token list\" lists the tokens"

// tokenDone says what was done about a token.
func (v *commandVerb) tokenDone() string {
	if v.Kind == inbox.CommandTokenCreate {
		return v.token.Text
	}
	return "revoked: token " + v.token.Name
}

func newTokenList() *cobra.Command {
	var v store.Options
	cmd := &cobra.Command{
		Use:   "list --store FILE",
		Short: "List the bearer tokens of a store, without their secrets",
		Args:  cmdutil.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return v.With(func(*sqlite.Reader) error {
				list, err := tokens.Open(tokens.FileOf(v.Path)).List()
				if err != nil {
					return err
				}
				views, cells := []tokenView{}, [][]string{}
				for _, t := range list {
					t.SHA256 = ""
					views = append(views, tokenView{Token: t})
					cells = append(cells, []string{t.Name, t.ID, strings.Join(t.Groups, ", "), cmdutil.Instant(t.Created)})
				}
				return v.List(cmd.OutOrStdout(), "tokens", views, []string{"TOKEN", "ID", "GROUPS", "MADE"}, cells)
			})
		},
	}
	v.AddFlags(cmd)
	return cmd
}
