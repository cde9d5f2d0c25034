package audit

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/store"
	"github.com/ambit-tools/ambit/runtime/host/terminal"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// newTail returns "ambit audit tail" (SEMANTICS 6.14.12).
func newTail() *cobra.Command {
	var (
		v      store.Options
		last   uint64
		follow bool
	)
	cmd := &cobra.Command{
		Use:   "tail --store FILE",
		Short: "Show the last entries of the journal, one line each",
		Long: `Tail prints the last entries, one line each, and with --follow those that come,
until it is interrupted. With --json the lines are those of "ambit audit export".`,
		Args: cmdutil.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
			defer stop()
			context.AfterFunc(ctx, stop) // the second interrupt does what it does to other programs
			return v.With(func(r *sqlite.Reader) error {
				head, err := r.Head(ctx)
				if err != nil {
					return err
				}
				archived, err := r.Archived(ctx)
				if err != nil {
					return cmdutil.Problem(err.Error(), "")
				}
				after := head - min(head, last)
				if after < archived {
					after = archived
					fmt.Fprintf(cmd.ErrOrStderr(), "note: the entries up to %d are archived: \"ambit audit export\" reads them with --segment\n", archived)
				}
				return tail(ctx, cmd.OutOrStdout(), r, after, follow, v.AsJSON)
			})
		},
	}
	v.AddFlags(cmd)
	cmd.Flags().Uint64VarP(&last, "lines", "n", 20, "`number` of entries")
	cmd.Flags().BoolVar(&follow, "follow", false, "go on with the entries that come")
	return cmd
}

// tail prints the entries after a position. Those who follow leave by ending ctx, and
// have seen all that was there then.
func tail(ctx context.Context, w io.Writer, r *sqlite.Reader, after uint64, follow, asJSON bool) error {
	t := time.NewTicker(store.PollInterval)
	defer t.Stop()
	for {
		list, err := r.Read(context.WithoutCancel(ctx), after, store.PageSize)
		if err != nil {
			return err
		}
		for i := range list {
			after = list[i].Seq
			if asJSON {
				err = exportList(ctx, w, list[i:i+1])
			} else {
				err = printLine(w, &list[i])
			}
			if err != nil {
				return err
			}
		}
		switch {
		case len(list) > 0:
			continue
		case !follow:
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
	}
}

// printLine prints an entry in one line.
func printLine(w io.Writer, e *journal.Entry) error {
	r, err := store.Decode(e)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, strings.Join(cmdutil.NonEmpty(
		strconv.FormatUint(e.Seq, 10), cmdutil.Instant(e.At), terminal.Escape(e.Kind), cmdutil.Named("session", e.Session), cmdutil.Named("run", e.Run),
		cmdutil.Named("call", e.Call), cmdutil.Named("tool", e.Tool), gist(r)), "  "))
	return err
}

// gist is what a record says, in few words.
func gist(r *journal.Record) string {
	parts := cmdutil.NonEmpty(cmdutil.Named("by", r.By), cmdutil.Named("request", r.Request))
	if c := r.Command; c != nil {
		parts = append(parts, cmdutil.NonEmpty(cmdutil.Named("command", c.Kind), cmdutil.Named("user", c.User), cmdutil.Named("nonce", c.Nonce), cmdutil.Named("request", c.Request),
			cmdutil.Named("grant", c.Grant), cmdutil.Named("session", c.Session), cmdutil.Named("call", c.Call), cmdutil.Named("run", c.Run), cmdutil.Named("reason", c.Reason))...)
		if c.Result != nil {
			parts = append(parts, cmdutil.NonEmpty(cmdutil.Named("result", c.Result.Result), cmdutil.Named("reason", c.Result.Reason))...)
		}
	}
	if out := store.OutcomeOf(r); out != nil {
		parts = append(parts, cmdutil.NonEmpty(cmdutil.Named("outcome", out.Outcome), cmdutil.Named("reason", out.Reason))...)
	}
	return strings.Join(parts, "  ")
}
