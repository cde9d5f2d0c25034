package cli

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

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/sqlite"
	"github.com/ambit-tools/ambit/runtime/terminal"
)

// glance is how often a verb reads the store while it waits for something in it.
const glance = 10 * time.Millisecond

func newAuditTail() *cobra.Command {
	var (
		v      storeVerb
		last   uint64
		follow bool
	)
	cmd := &cobra.Command{
		Use:   "tail --store FILE",
		Short: "Show the last entries of the journal, one line each",
		Long: `Tail prints the last entries, one line each, and with --follow those that come,
until it is interrupted. With --json the lines are those of "ambit audit export".`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
			defer stop()
			context.AfterFunc(ctx, stop) // the second interrupt does what it does to other programs
			return v.with(func(r *sqlite.Reader) error {
				head, err := r.Head(ctx)
				if err != nil {
					return err
				}
				return tail(ctx, cmd.OutOrStdout(), r, head-min(head, last), follow, v.asJSON)
			})
		},
	}
	v.flags(cmd)
	cmd.Flags().Uint64VarP(&last, "lines", "n", 20, "`number` of entries")
	cmd.Flags().BoolVar(&follow, "follow", false, "go on with the entries that come")
	return cmd
}

// tail prints the entries after a position. Those who follow leave by ending ctx, and
// have seen all that was there then.
func tail(ctx context.Context, w io.Writer, r *sqlite.Reader, after uint64, follow, asJSON bool) error {
	t := time.NewTicker(glance)
	defer t.Stop()
	for {
		list, err := r.Read(context.WithoutCancel(ctx), after, step)
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
	r, err := decode(e)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, strings.Join(nonEmpty(
		strconv.FormatUint(e.Seq, 10), instant(e.At), terminal.Escape(e.Kind), named("session", e.Session), named("run", e.Run),
		named("call", e.Call), named("tool", e.Tool), gist(r)), "  "))
	return err
}

// gist is what a record says, in few words.
func gist(r *journal.Record) string {
	parts := nonEmpty(named("by", r.By), named("request", r.Request))
	if c := r.Command; c != nil {
		parts = append(parts, nonEmpty(named("command", c.Kind), named("user", c.User), named("nonce", c.Nonce), named("request", c.Request),
			named("grant", c.Grant), named("session", c.Session), named("call", c.Call), named("run", c.Run), named("reason", c.Reason))...)
		if c.Result != nil {
			parts = append(parts, nonEmpty(named("result", c.Result.Result), named("reason", c.Result.Reason))...)
		}
	}
	if out := outcomeOf(r); out != nil {
		parts = append(parts, nonEmpty(named("outcome", out.Outcome), named("reason", out.Reason))...)
	}
	return strings.Join(parts, "  ")
}

// named returns a name and its value, safe to show; nothing when there is none.
func named(name, value string) string {
	if value == "" {
		return ""
	}
	return name + "=" + terminal.Escape(value)
}

func nonEmpty(list ...string) (out []string) {
	for _, s := range list {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}
