package audit

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/operate"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/store"
	"github.com/ambit-tools/ambit/runtime/store/archive"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// NewJournal returns "ambit journal".
func NewJournal() *cobra.Command {
	return cmdutil.NewGroup("journal", "Move old entries of a journal to files that prove themselves", newArchive(), newSegments())
}

// An archiving is what "journal archive" was asked for.
type archiving struct {
	store.Options
	key, before, to string
	anchors         []string
	wait, window    time.Duration
}

// newArchive returns "ambit journal archive".
func newArchive() *cobra.Command {
	var v archiving
	cmd := &cobra.Command{
		Use:   "archive --store FILE --before TIME --to FILE [--key VERIFIER --anchor FILE]",
		Short: "Move old entries to a segment",
		Long: `Archive moves the entries before a time to a file, which is compressed and has what proves
them. It takes those that an anchored checkpoint proves, and none from the first entry of a
call on that has not ended or whose outcome is not known: it says what holds it back. Sessions
go on: their state, grants and the ids of their calls stay.

A process that owns the store and serves its inbox does it, with its own key and anchors, if
its operator policy lets you archive. It writes into the folder "archive" beside the store
alone: FILE is that folder, or a file in it that is not there. Otherwise no process may own the
store, and --key and --anchor are required.

Calls that a tool still needs stay: for its time for an undo, its cooldown, its dedupe window and
that of its idempotency key. The store has a record of the longest of these. Where it has none,
state it with --window; of two the longer one holds.

TIME is a time such as 2027-03-01T00:00:00Z, or an age such as 720h. "ambit audit verify
--segment" verifies a store and its segments, and "ambit journal segments" a segment alone.`,
		Example: `  ambit journal archive --store ambit.db --before 720h --to archive/1.segment --key keys/prod.key.pub --anchor /mnt/worm/anchors
  ambit journal archive --store var/ambit.db --before 720h --to var/archive`,
		Args: cmdutil.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return v.run(cmd) },
	}
	store.AddFlag(cmd, &v.Path, "`file` of the store, as the application opens it")
	cmd.Flags().StringVar(&v.before, "before", "", "`time` before which entries are archived")
	cmd.Flags().StringVar(&v.to, "to", "", "`file` to write")
	cmd.Flags().DurationVar(&v.wait, "wait", 10*time.Minute, "how `long` to wait for the process that owns the store")
	cmd.Flags().DurationVar(&v.window, "window", 0, "how `long` tools need their calls, where the store has no record of it")
	cmd.Flags().StringVar(&v.key, "key", "", "`file` of the verifier")
	cmd.Flags().StringArrayVar(&v.anchors, "anchor", nil, "`file` of anchored checkpoints; may be repeated")
	return cmd
}

// run archives.
func (v *archiving) run(cmd *cobra.Command) error {
	before, err := v.time(time.Now())
	if err != nil {
		return err
	}
	if v.window < 0 {
		return cmdutil.Usage("--window is negative", "write the longest time for which a tool needs its calls, such as 24h, or 0s")
	}
	served, err := operate.Archive(cmd, &v.Options, v.wait, before, v.to) // it opens the store for reading: none is made
	if served && (len(v.key)+len(v.anchors) > 0 || cmd.Flags().Changed("window")) {
		fmt.Fprintln(cmd.ErrOrStderr(), "note: the process that owns the store has its own key, anchors and tools: --key, --anchor and --window were not read")
	}
	if served || err != nil {
		return err
	}
	return v.archive(cmd, before)
}

// archive archives in a store that no process owns.
func (v *archiving) archive(cmd *cobra.Command, before time.Time) error {
	if v.key == "" {
		return cmdutil.Usage("--key is missing", "no process serves the store: archive needs --before TIME, --to FILE, --key VERIFIER and --anchor FILE")
	}
	if len(v.anchors) == 0 {
		return cmdutil.Usage("--anchor is missing", "only what an anchored checkpoint proves is archived: add --anchor FILE, with the checkpoints that were taken elsewhere")
	}
	verifier, err := readVerifier(v.key)
	if err != nil {
		return err
	}
	notes, err := readNotes(cmd, verifier, v.anchors)
	if err != nil {
		return err
	}
	s, err := sqlite.Open(v.Path)
	if errors.Is(err, sqlite.ErrOwned) {
		return cmdutil.Problem(err.Error(), "stop that process, or let it archive: host.Config.Retain")
	}
	if err != nil {
		return cmdutil.Problem(err.Error(), "")
	}
	cfg := archive.Config{Store: s, Verifier: verifier, Notes: notes, Before: before, To: v.to}
	if cmd.Flags().Changed("window") {
		cfg.Window = &v.window
	}
	done, err := archive.Write(cmd.Context(), &cfg)
	err = errors.Join(err, s.Close())
	if refused := (*archive.Refusal)(nil); errors.As(err, &refused) {
		return cmdutil.Problem(refused.What, refused.Remedy)
	}
	if err != nil {
		return cmdutil.Problem(err.Error(), "")
	}
	fmt.Fprintf(cmd.OutOrStdout(), "archived: %d..%d, %d bytes\n", done.First, done.Last, done.Bytes)
	if done.Held != "" {
		fmt.Fprintf(cmd.OutOrStdout(), "held back: %s\n", done.Held)
	}
	return nil
}

// time reads the flags that must be there.
func (v *archiving) time(now time.Time) (time.Time, error) {
	for _, f := range []struct{ name, value string }{{"before", v.before}, {"to", v.to}} {
		if f.value == "" {
			return time.Time{}, cmdutil.Usage("--"+f.name+" is missing", "archive needs --before TIME and --to FILE, and, where no process owns the store, --key VERIFIER and --anchor FILE")
		}
	}
	if age, err := time.ParseDuration(v.before); err == nil {
		return now.Add(-age), nil
	}
	at, err := time.Parse(time.RFC3339, v.before)
	if err != nil {
		return time.Time{}, cmdutil.Usage("--before "+cmdutil.Quote(v.before)+" is no time", "write 2027-03-01T00:00:00Z, or an age such as 720h")
	}
	return at, nil
}
