package operate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/store"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/content"
	"github.com/ambit-tools/ambit/runtime/host/terminal"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/archive"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// NewArtifacts returns "ambit artifacts".
func NewArtifacts() *cobra.Command {
	return cmdutil.NewGroup("artifacts", "See which outputs are stored aside, and remove old ones",
		newArtifactsList(), newArtifactsShow(), newArtifactsPrune())
}

// An artifact is an output that is stored aside.
type artifact struct {
	runtime.ArtifactRef
	Session string `json:"session"`
	Call    string `json:"call"`
	Tool    string `json:"tool"`
	At      string `json:"at"`
	Preview string `json:"preview,omitempty"`
	Stored  string `json:"stored,omitempty"` // whole, missing or damaged
}

// artifactsOf returns the artifacts of a store and of segments, the oldest first. Without segments it leaves out those of entries
// that are archived, and says so (SEMANTICS 6.14.12).
func artifactsOf(cmd *cobra.Command, r *sqlite.Reader, segments *store.Segments) (list []artifact, err error) {
	var after uint64
	if !segments.Any() {
		after, err = r.Archived(cmd.Context())
		if err != nil {
			return nil, cmdutil.Problem(err.Error(), "")
		}
		if after > 0 {
			fmt.Fprintf(cmd.ErrOrStderr(), "note: the entries up to %d are archived: add --segment with the files that have them\n", after)
		}
	}
	err = segments.With(cmd.Context(), r, func(from store.Reader, _ []*archive.File) error {
		list, err = artifactsIn(cmd.Context(), from, after)
		return err
	})
	return list, err
}

// artifactsIn returns the artifacts of the entries after a position.
func artifactsIn(ctx context.Context, r store.Reader, after uint64) (list []artifact, err error) {
	err = store.EachEntry(ctx, r, after, func(e *journal.Entry) error {
		if !bytes.Contains(e.Leaf, []byte(`"artifact":{`)) {
			return nil
		}
		rec, err := store.Decode(e)
		if err != nil || rec.Artifact == nil || rec.Mark != journal.MarkEnded {
			return err
		}
		a := artifact{ArtifactRef: *rec.Artifact, Session: rec.Session, Call: rec.Call, Tool: rec.Tool, At: cmdutil.Instant(rec.At)}
		if rec.Output != nil {
			a.Preview = string(rec.Output.Value)
		}
		list = append(list, a)
		return nil
	})
	return list, err
}

func newArtifactsList() *cobra.Command {
	var (
		v        store.Options
		segments store.Segments
	)
	cmd := &cobra.Command{
		Use:   "list --store FILE",
		Short: "List the outputs that were stored aside, the oldest first",
		Long: `List prints what the journal says was stored aside, the oldest first. What was
removed since is listed too: "ambit artifacts show" says whether one is there.`,
		Args: cmdutil.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return v.With(func(r *sqlite.Reader) error {
				list, err := artifactsOf(cmd, r, &segments)
				if err != nil {
					return err
				}
				cells := [][]string{}
				for i := range list {
					a := &list[i]
					a.Preview = ""
					cells = append(cells, []string{a.SHA256[:min(len(a.SHA256), 12)], a.Type, fmt.Sprint(a.Bytes), a.Session, a.Call, a.Tool, a.At})
				}
				return v.List(cmd.OutOrStdout(), "artifacts", append([]artifact{}, list...),
					[]string{"SHA256", "TYPE", "BYTES", "SESSION", "CALL", "TOOL", "STORED"}, cells)
			})
		},
	}
	v.AddFlags(cmd)
	segments.AddFlag(cmd)
	return cmd
}

// objectsFlag adds the flag that names the content store.
func objectsFlag(cmd *cobra.Command, objects *string) {
	cmd.Flags().StringVar(objects, "objects", "", "`directory` of the contents; default: the name of the store and .objects")
}

func newArtifactsShow() *cobra.Command {
	var (
		v        store.Options
		segments store.Segments
		objects  string
	)
	cmd := &cobra.Command{
		Use:   "show SHA256 --store FILE",
		Short: "Show an output that is stored aside: its preview, and whether it is whole",
		Long: `Show prints what the journal has of an artifact, and reads all of it to see
whether it is what was stored. It does not print it: it may hold values that are
sensitive, which the preview does not.`,
		Args: cmdutil.OneID("the hash of an artifact, or how it begins"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return v.With(func(r *sqlite.Reader) error {
				list, err := artifactsOf(cmd, r, &segments)
				if err != nil {
					return err
				}
				a, err := findArtifact(list, args[0])
				if err != nil {
					return err
				}
				if a.Stored, err = a.look(cmd.Context(), objectsOf(objects, r)); err != nil {
					return err
				}
				if v.AsJSON {
					return cmdutil.PrintJSON(cmd.OutOrStdout(), a)
				}
				w := cmd.OutOrStdout()
				fmt.Fprintf(w, "sha256   %s\ntype     %s\nbytes    %d\nstored   %s\n", terminal.Escape(a.SHA256), terminal.Escape(a.Type), a.Bytes, a.Stored)
				fmt.Fprintf(w, "call     %s of session %s\ntool     %s\nat       %s\n", terminal.Escape(a.Call), terminal.Escape(a.Session), terminal.Escape(a.Tool), a.At)
				fmt.Fprintf(w, "preview  %s\n", terminal.Escape(a.Preview))
				return nil
			})
		},
	}
	v.AddFlags(cmd)
	segments.AddFlag(cmd)
	objectsFlag(cmd, &objects)
	return cmd
}

// objectsOf returns the directory of the contents of a store.
func objectsOf(named string, r *sqlite.Reader) string {
	if named != "" {
		return named
	}
	return r.Path() + ".objects"
}

// findArtifact returns the latest artifact whose hash begins with what was typed.
func findArtifact(list []artifact, typed string) (found *artifact, err error) {
	for i := range list {
		a := &list[i]
		if !strings.HasPrefix(a.SHA256, typed) {
			continue
		}
		if found != nil && found.SHA256 != a.SHA256 {
			return nil, cmdutil.Usage("several artifacts begin with "+cmdutil.Quote(typed), "type more of it")
		}
		found = a
	}
	if found == nil {
		return nil, cmdutil.Problem("there is no artifact "+cmdutil.Quote(typed), "\"ambit artifacts list\" lists them")
	}
	return found, nil
}

// look says whether an artifact is stored as it was.
func (a *artifact) look(ctx context.Context, dir string) (string, error) {
	store, err := content.OpenReader(dir)
	if err != nil {
		return "", cmdutil.Problem(err.Error(), "name the directory with --objects DIR")
	}
	f, err := store.Open(ctx, content.Ref{SHA256: a.SHA256, Size: a.Bytes})
	if err == nil {
		_, err = io.Copy(io.Discard, f)
		err = errors.Join(err, f.Close())
	}
	err = errors.Join(err, store.Close())
	switch {
	case err == nil:
		return "whole", nil
	case errors.Is(err, content.ErrNotFound):
		return "missing", nil
	case errors.Is(err, content.ErrCorrupt):
		return "damaged", nil
	}
	return "", cmdutil.Problem(err.Error(), "")
}

func newArtifactsPrune() *cobra.Command {
	var (
		v        store.Options
		segments store.Segments
		objects  string
		age      time.Duration
	)
	cmd := &cobra.Command{
		Use:   "prune --store FILE --older-than DURATION",
		Short: "Remove outputs that were stored aside long ago",
		Long: `Prune removes the artifacts that were stored, and not stored again, before a time.
Everything else in the directory stays, such as what files were before they were
written. No executor may run meanwhile: an application that runs prunes by itself,
with content.Store.Prune. What archived entries tell of stays unless --segment names
their files.`,
		Example: `  ambit artifacts prune --store ambit.db --older-than 720h`,
		Args:    cmdutil.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if age <= 0 {
				return cmdutil.Usage("prune needs an age", "for example --older-than 720h")
			}
			var list []artifact
			err := v.With(func(r *sqlite.Reader) (err error) {
				objects = objectsOf(objects, r)
				list, err = artifactsOf(cmd, r, &segments)
				return err
			})
			if err != nil {
				return err
			}
			n, err := prune(cmd.Context(), v.Path, objects, list, time.Now().Add(-age))
			if err != nil {
				return err
			}
			if v.AsJSON {
				return cmdutil.PrintJSON(cmd.OutOrStdout(), map[string]int{"removed": n})
			}
			fmt.Fprintf(cmd.OutOrStdout(), "removed %s\n", cmdutil.Count(n, "artifact"))
			return nil
		},
	}
	v.AddFlags(cmd)
	segments.AddFlag(cmd)
	objectsFlag(cmd, &objects)
	cmd.Flags().DurationVar(&age, "older-than", 0, "remove what was stored before this `time`, such as 720h")
	return cmd
}

// prune removes artifacts while it owns the store. It fails while an executor does.
func prune(ctx context.Context, path, objects string, list []artifact, before time.Time) (n int, err error) {
	own, err := sqlite.Open(path)
	if errors.Is(err, sqlite.ErrOwned) {
		return 0, cmdutil.Problem("an executor has the store: "+err.Error(), "stop the application, or prune in it with content.Store.Prune")
	}
	if err != nil {
		return 0, cmdutil.Problem(err.Error(), "")
	}
	defer func() { err = errors.Join(err, own.Close()) }()
	store, err := content.OpenReader(objects)
	if err != nil {
		return 0, cmdutil.Problem(err.Error(), "name the directory with --objects DIR")
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	known := map[string]bool{}
	for i := range list {
		known[list[i].SHA256] = true
	}
	return store.Prune(ctx, before, func(ref content.Ref) bool { return !known[ref.SHA256] })
}
