package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/store"
	"github.com/ambit-tools/ambit/runtime/host/terminal"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/archive"
	"github.com/ambit-tools/ambit/runtime/store/audit"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

func newShow() *cobra.Command {
	var (
		v             store.Options
		session, call string
		seq           uint64
		segments      store.Segments
	)
	cmd := &cobra.Command{
		Use:   "show --store FILE (--seq N | --call ID [--session ID])",
		Short: "Show entries of the journal in full",
		Args:  cmdutil.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if (seq == 0) == (call == "") {
				return cmdutil.Usage("show needs either a position or a call", "add --seq N, or --call ID")
			}
			return v.With(func(r *sqlite.Reader) error {
				return segments.With(cmd.Context(), r, func(from store.Reader, _ []*archive.File) error {
					list, err := shown(cmd.Context(), r, from, seq, session, call)
					if err != nil {
						return err
					}
					return show(cmd, &v, list)
				})
			})
		},
	}
	v.AddFlags(cmd)
	cmd.Flags().Uint64Var(&seq, "seq", 0, "`position` of the entry")
	cmd.Flags().StringVar(&call, "call", "", "`id` of the call, or how it begins")
	cmd.Flags().StringVar(&session, "session", "", store.SessionUsage)
	segments.AddFlag(cmd)
	return cmd
}

// show prints entries.
func show(cmd *cobra.Command, v *store.Options, list []journal.Entry) error {
	if v.AsJSON {
		return exportList(cmd.Context(), cmd.OutOrStdout(), list)
	}
	for i := range list {
		if err := printEntry(cmd.OutOrStdout(), &list[i]); err != nil {
			return err
		}
	}
	return nil
}

// shown returns one entry, or those of a call, of a store or of the segments beside it.
func shown(ctx context.Context, r *sqlite.Reader, from store.Reader, seq uint64, session, call string) ([]journal.Entry, error) {
	if call != "" {
		if from == store.Reader(r) {
			list, err := indexed(ctx, r, session, call)
			if err != nil || len(list) > 0 {
				return list, err
			}
		}
		return entriesOf(ctx, from, session, call)
	}
	list, err := from.Read(ctx, seq-1, 1)
	if err == nil && len(list) == 0 {
		head, headErr := r.Head(ctx)
		if headErr != nil {
			return nil, headErr
		}
		return nil, cmdutil.Problem(fmt.Sprintf("there is no entry %d: the last one is %d", seq, head), "")
	}
	return list, err
}

// indexed returns the entries of the call that the index of calls finds; none when it finds none. That each
// is of the call is checked where it is read. "ambit audit verify" says whether the index has all of them.
func indexed(ctx context.Context, r *sqlite.Reader, session, call string) ([]journal.Entry, error) {
	rows, err := store.FindCalls(ctx, r, session, call)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	row, err := store.OnlyCall(rows, session, call)
	if err != nil {
		return nil, err
	}
	list, err := r.Call(ctx, row.CallKey)
	if err != nil {
		err = cmdutil.Problem(err.Error(), "")
	}
	return list, err
}

// entriesOf returns the entries of a call. It looks at all that there are: segments have no index, and a call that
// the index of the store does not have may have been taken out of it.
func entriesOf(ctx context.Context, r store.Reader, session, call string) (list []journal.Entry, err error) {
	var rows []sqlite.CallRow
	err = store.EachEntry(ctx, r, 0, func(e *journal.Entry) error {
		if e.Call != "" && strings.HasPrefix(e.Call, call) && strings.HasPrefix(e.Session, session) {
			list = append(list, *e)
			rows = append(rows, sqlite.CallRow{CallKey: journal.CallKey{Session: e.Session, Call: e.Call}})
		}
		return nil
	})
	if err != nil {
		return nil, cmdutil.Problem(err.Error(), "")
	}
	row, err := store.OnlyCall(rows, session, call)
	return slices.DeleteFunc(list, func(e journal.Entry) bool { return e.Call != row.Call || e.Session != row.Session }), err
}

// A one reads one entry.
type one []journal.Entry

// Read implements audit.Reader.
func (o one) Read(_ context.Context, after uint64, _ int) ([]journal.Entry, error) {
	if o[0].Seq <= after {
		return nil, nil
	}
	return o, nil
}

// exportList prints entries as audit.Export does.
func exportList(ctx context.Context, w io.Writer, list []journal.Entry) error {
	for i := range list {
		if _, err := audit.Export(ctx, w, one(list[i:i+1]), list[i].Seq-1); err != nil {
			return err
		}
	}
	return nil
}

// printEntry prints an entry for people.
func printEntry(w io.Writer, e *journal.Entry) error {
	var text bytes.Buffer
	if err := json.Indent(&text, e.Leaf, "", "  "); err != nil {
		return cmdutil.Problem(fmt.Sprintf("entry %d is no JSON: %v", e.Seq, err), "run \"ambit audit verify\"")
	}
	fmt.Fprintf(w, "entry %d\n", e.Seq)
	for line := range strings.SplitSeq(text.String(), "\n") {
		fmt.Fprintln(w, terminal.Escape(line))
	}
	return nil
}
