package whatif

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/project"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/store"
	"github.com/ambit-tools/ambit/runtime/simulate/replay"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// A rerun is what "ambit replay" was asked for.
type rerun struct {
	simulation
	store, journal string
	segments       store.Segments
	session, run   string
	sinceText      string
	since          time.Time // read from sinceText; zero: all calls
	each           bool
	deterministic  bool
}

// NewReplay returns "ambit replay".
func NewReplay() *cobra.Command {
	var r rerun
	cmd := &cobra.Command{
		Use:   "replay --store FILE | --journal FILE",
		Short: "Run what was recorded against other rules and policies",
		Long: `Replay runs recorded sessions again, with their clock, their arguments, their
outcomes and the answers that people gave, through an executor of the declaration
and the policies as they stand on disk. No handler is run and nothing is written.
It prints one line per run: "ok SESSION RUN", or "DIVERGES SESSION RUN CALL TOOL"
with what was decided and what would be for the first call that is decided
otherwise, and a summary. It ends with exit code 3 when a run diverges.

What comes after a divergence in its run is not judged: the run would have gone
another way. With --each every call is judged by itself, on the state that the
recording has made before it, and a line names each one that is decided otherwise.
With --since calls from before that time are let do what they did, and not judged.

Calls of which too little is recorded, such as those whose sensitive
arguments were erased, are listed as not replayable.

With --deterministic the recorded outputs of tools that are declared deterministic
are compared instead: a call of the same input, after which no call ran that writes,
has to have the same output. It ends with exit code 3 when one has not.

The recording is the store of an executor, or an export of its journal as JSON
lines ("-": standard input).`,
		Example: `  ambit replay --store ambit.db --declaration tools.yaml --policies candidate
  ambit replay --store ambit.db --policies candidate --each --since 24h
  ambit replay --journal audit.jsonl --session s1 --run s1/1 --json`,
		Args: cmdutil.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if r.deterministic {
				return r.outputs(cmd)
			}
			report, err := r.report(cmd.Context(), cmd.InOrStdin())
			if err != nil {
				return err
			}
			if err := r.print(cmd.OutOrStdout(), report); err != nil {
				return err
			}
			if report.Summary.Diverged > 0 {
				return cmdutil.Answered(cmdutil.ExitVerdict)
			}
			return nil
		},
	}
	flags := cmd.Flags()
	store.AddFlag(cmd, &r.store, "the recording is in this `file`, the store of an executor", "journal")
	r.segments.AddFlag(cmd)
	flags.StringVar(&r.journal, "journal", "", "the recording is in this `file`, an export as JSON lines")
	flags.StringVar(&r.declaration, "declaration", "", "run it against the tools of this `file`; without it that in this folder")
	project.PolicyFlag(cmd, &r.policies)
	flags.BoolVar(&r.each, "each", false, "judge each call by itself, instead of a run up to its first difference")
	flags.StringVar(&r.sinceText, "since", "", "judge only calls that were made since this `time`: 2h, 2026-11-20 or 2026-11-20T11:11:45Z")
	flags.BoolVar(&r.deterministic, "deterministic", false, "compare recorded outputs of deterministic tools, and judge nothing")
	flags.StringVar(&r.session, "session", "", "`id` of the only session to tell of")
	flags.StringVar(&r.run, "run", "", "`id` of the only run to tell of")
	flags.BoolVar(&r.asJSON, "json", false, "print the report as JSON")
	return cmd
}

// named finds what was not named, and requires one recording.
func (r *rerun) named() error {
	switch {
	case r.store == "" && r.journal == "":
		return cmdutil.Usage("replay needs a recording", "add either --store FILE or --journal FILE")
	case r.store != "" && r.journal != "":
		return cmdutil.Usage("replay takes one recording, and --store and --journal name one each", "leave out one of the two")
	case r.store == "" && r.segments.Any():
		return cmdutil.Usage("--segment is about a store, and the recording is an export", "leave it out, or add --store FILE")
	}
	if r.sinceText != "" {
		at, err := cmdutil.Since(r.sinceText, time.Now())
		if err != nil {
			return err
		}
		r.since = at
	}
	if r.declaration == "" {
		path, err := project.Locate(nil)
		if err != nil {
			return err
		}
		r.declaration = path
	}
	return nil
}

// report replays the recording.
func (r *rerun) report(ctx context.Context, stdin io.Reader) (*replay.Report, error) {
	if err := r.named(); err != nil {
		return nil, err
	}
	setup, err := r.setup()
	if err != nil {
		return nil, err
	}
	source, err := r.source(ctx, stdin)
	if err != nil {
		return nil, cmdutil.Problem(cmp.Or(r.store, r.journal)+": "+err.Error(), "")
	}
	defer source.Close()
	report, err := replay.Run(ctx, source, &replay.Candidate{
		Declaration: setup.Declaration, Policy: setup.Policy, Each: r.each, Since: r.since,
	})
	if err != nil {
		return nil, store.NameSegment(err)
	}
	if report = report.Only(r.session, r.run); len(report.Runs) == 0 {
		return nil, cmdutil.Problem("the recording has no run that was asked for", "leave out --session, --run and --since to see all")
	}
	return report, nil
}

// A recording is a source that has to be closed.
type recording interface {
	replay.Source
	io.Closer
}

// lines is a recording that was read to its end.
type lines struct{ *replay.Lines }

// Close implements io.Closer.
func (lines) Close() error { return nil }

// stored is the recording of a store, and segments beside it.
type stored struct {
	*store.Joined
	reader *sqlite.Reader
}

// Close implements io.Closer.
func (s stored) Close() error { return errors.Join(s.Joined.Close(), s.reader.Close()) }

// open opens a store and its segments.
func (r *rerun) open(ctx context.Context) (recording, error) {
	reader, err := sqlite.OpenReader(r.store)
	if err != nil {
		return nil, err
	}
	joined, err := r.segments.Open(ctx, reader)
	if err != nil {
		return nil, errors.Join(err, reader.Close())
	}
	return stored{joined, reader}, nil
}

// source opens the recording.
func (r *rerun) source(ctx context.Context, stdin io.Reader) (recording, error) {
	switch r.journal {
	case "":
		return r.open(ctx)
	case "-":
		l, err := replay.ReadLines(stdin)
		return lines{l}, err
	}
	f, err := os.Open(r.journal)
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	defer f.Close()
	l, err := replay.ReadLines(f)
	return lines{l}, err
}

// print writes the report.
func (r *rerun) print(w io.Writer, report *replay.Report) error {
	if r.asJSON {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(report)
	}
	for _, run := range report.Runs {
		printRun(w, run)
	}
	s := &report.Summary
	fmt.Fprintf(w, "%s, %d diverged: %d newly denied, %d newly asked, %d newly allowed, %d no longer asked, %d otherwise\n",
		cmdutil.Count(s.Runs, "run"), s.Diverged, s.NewlyDenied, s.NewlyAsked, s.NewlyAllowed, s.NoLongerAsked, s.Otherwise)
	fmt.Fprintf(w, "%s: %d unchanged, %d after a divergence, %d not replayable\n", cmdutil.Count(s.Calls, "call"), s.Unchanged, s.After, s.NotReplayable)
	return nil
}

// printRun writes what came of a run. Names are the recorded caller's: they are
// quoted where they would not be one word.
func printRun(w io.Writer, run *replay.RunReport) {
	if run.Divergence == nil {
		fmt.Fprintf(w, "ok %s %s\n", word(run.Session), word(run.Run))
	} else {
		printDivergence(w, run, run.Divergence)
	}
	for _, d := range run.Further {
		printDivergence(w, run, d)
	}
	for _, o := range run.Otherwise {
		fmt.Fprintf(w, "  otherwise: %s %s: was %s, would be %s\n", word(o.Call), word(o.Tool), verdictText(&o.Recorded), verdictText(&o.Candidate))
	}
	if run.AfterRun != "" {
		fmt.Fprintf(w, "  the run %s of the session had diverged before: this may come of it\n", word(run.AfterRun))
	}
	for _, c := range run.NotReplayable {
		fmt.Fprintf(w, "  not replayable: %s %s: %s\n", word(c.Call), word(c.Tool), c.Why)
	}
}

// printDivergence writes a call that is decided otherwise.
func printDivergence(w io.Writer, run *replay.RunReport, d *replay.Divergence) {
	what := ""
	if d.Undo {
		what = "undo of "
	}
	fmt.Fprintf(w, "DIVERGES %s %s %s%s %s: %s: was %s, would be %s\n", word(run.Session), word(run.Run), what, word(d.Call), word(d.Tool),
		strings.ReplaceAll(string(d.Class), "_", " "), verdictText(&d.Recorded), verdictText(&d.Candidate))
}

// verdictText is a verdict in words.
func verdictText(v *replay.Verdict) string {
	text := v.Outcome
	if text == replay.Unrecorded {
		return "let run"
	}
	if len(v.AllReasons) > 0 {
		text += " (" + strings.Join(v.AllReasons, ", ")
		if len(v.Rules) > 0 {
			words := make([]string, len(v.Rules))
			for i, rule := range v.Rules {
				words[i] = word(rule)
			}
			text += ": " + strings.Join(words, ", ")
		}
		text += ")"
	}
	return text
}

// word is a name as one word.
func word(s string) string {
	quoted := cmdutil.Quote(s)
	if s == "" || quoted[1:len(quoted)-1] != s || strings.ContainsAny(s, " ") {
		return quoted
	}
	return s
}
