package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/store"
	"github.com/ambit-tools/ambit/runtime/audit"
	"github.com/ambit-tools/ambit/runtime/segment"
	"github.com/ambit-tools/ambit/runtime/sqlite"
)

// NewJournal returns "ambit journal".
func NewJournal() *cobra.Command {
	return cmdutil.NewGroup("journal", "Copy old entries of a journal to files that prove themselves", newArchive(), newSegments())
}

// An archiving is what "journal archive" was asked for.
type archiving struct {
	store.Options
	key, before, to, previous string
	anchors                   []string
}

// newArchive returns "ambit journal archive".
func newArchive() *cobra.Command {
	var v archiving
	cmd := &cobra.Command{
		Use:   "archive --store FILE --before TIME --to FILE --key VERIFIER --anchor FILE",
		Short: "Write old entries to a segment",
		Long: `Archive writes the entries before a time to a file, which is compressed and has what proves
them. It takes those that an anchored checkpoint proves, and none from the first entry of a
call on that has not ended. With --previous it begins after the segment of that name.
The store may be in use. It keeps its entries: nothing deletes them yet.

TIME is a time such as 2027-03-01T00:00:00Z, or an age such as 720h. "ambit audit verify
--segment" verifies a store and its segments, and "ambit journal segments" a segment alone.`,
		Example: `  ambit journal archive --store ambit.db --before 720h --to archive/1.segment --key keys/prod.key.pub --anchor /mnt/worm/anchors`,
		Args:    cmdutil.NoArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return v.run(cmd) },
	}
	store.AddFlag(cmd, &v.Path, "`file` of the store, as the application opens it")
	cmd.Flags().StringVar(&v.before, "before", "", "`time` before which entries are archived")
	cmd.Flags().StringVar(&v.to, "to", "", "`file` to write")
	cmd.Flags().StringVar(&v.key, "key", "", "`file` of the verifier")
	cmd.Flags().StringArrayVar(&v.anchors, "anchor", nil, "`file` of anchored checkpoints; may be repeated")
	cmd.Flags().StringVar(&v.previous, "previous", "", "`file` of the segment before this one")
	return cmd
}

// run archives.
func (v *archiving) run(cmd *cobra.Command) error {
	before, err := v.time(time.Now())
	if err != nil {
		return err
	}
	return v.With(func(r *sqlite.Reader) error {
		h, err := v.header(cmd, r, before)
		if err != nil {
			return err
		}
		progress := cmdutil.NewProgress(cmd.ErrOrStderr())
		progress.Step("archiving", h.Last-h.First+1)
		info, err := segment.Write(cmd.Context(), v.to, *h, watched{r, progress})
		progress.Close()
		if err != nil {
			return cmdutil.Problem(err.Error(), "")
		}
		fmt.Fprintf(cmd.OutOrStdout(), "archived: %d..%d, %d bytes; the store keeps its entries\n", h.First, h.Last, info.Bytes)
		return nil
	})
}

// time reads the flags that must be there.
func (v *archiving) time(now time.Time) (time.Time, error) {
	for _, f := range []struct{ name, value string }{{"before", v.before}, {"to", v.to}, {"key", v.key}} {
		if f.value == "" {
			return time.Time{}, cmdutil.Usage("--"+f.name+" is missing", "archive needs --before TIME, --to FILE, --key VERIFIER and --anchor FILE")
		}
	}
	if len(v.anchors) == 0 {
		return time.Time{}, cmdutil.Usage("--anchor is missing", "only what an anchored checkpoint proves is archived: add --anchor FILE, with the checkpoints that were taken elsewhere")
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

// header returns what is to be archived.
func (v *archiving) header(cmd *cobra.Command, r *sqlite.Reader, before time.Time) (*segment.Header, error) {
	verifier, err := readVerifier(v.key)
	if err != nil {
		return nil, err
	}
	notes, err := readNotes(cmd, verifier, v.anchors)
	if err != nil {
		return nil, err
	}
	list, err := audit.NewSource(r, r).Checkpoints(cmd.Context())
	if err != nil {
		return nil, err
	}
	proofs, anchored := audit.Proofs(list, notes, verifier)
	h := &segment.Header{Origin: verifier.Name(), First: 1, Before: []tlog.Hash{}}
	if h.Store, err = r.ID(cmd.Context()); err != nil {
		return nil, err
	}
	if v.previous != "" {
		if err := v.follow(h, proofs); err != nil {
			return nil, err
		}
	}
	last, err := chosen(cmd.Context(), r, h.First, proofs, anchored, before)
	if err != nil {
		return nil, err
	}
	h.Last, h.Root, h.Note = last.Size, last.Root, string(last.Note)
	return h, nil
}

// follow begins a segment after the one before it.
func (v *archiving) follow(h *segment.Header, proofs []audit.Proof) error {
	file, err := segment.Open(v.previous)
	if err != nil {
		return cmdutil.Problem(err.Error(), "name the segment before this one")
	}
	p, digest := file.Header(), file.Digest()
	if err := file.Close(); err != nil {
		return err
	}
	at, found := slices.BinarySearchFunc(proofs, p.Last, func(q audit.Proof, size uint64) int { return cmp.Compare(q.Size, size) })
	if p.Store != h.Store || !found || proofs[at].Root != p.Root {
		return cmdutil.Problem("the segment "+cmdutil.Quote(v.previous)+" is of another store", "name the segment of this store that ends before the entries to archive")
	}
	h.First, h.Before, h.Previous = p.Last+1, proofs[at].Peaks, &digest
	return nil
}

// chosen returns the checkpoint of the last entry to archive.
func chosen(ctx context.Context, r *sqlite.Reader, first uint64, proofs []audit.Proof, anchored uint64, before time.Time) (*audit.Proof, error) {
	open, err := firstOpen(ctx, r)
	if err != nil {
		return nil, err
	}
	fit := proofs[:sort.Search(len(proofs), func(i int) bool { return proofs[i].Size > anchored })]
	if len(fit) == 0 || fit[len(fit)-1].Size < first {
		return nil, cmdutil.Problem(fmt.Sprintf("an anchored checkpoint proves the entries up to %d, and those from %d on are to be archived", anchored, first),
			"add --anchor FILE with newer checkpoints: what they do not prove stays in the store")
	}
	fit = fit[:sort.Search(len(fit), func(i int) bool { return fit[i].Size >= open })]
	if len(fit) == 0 || fit[len(fit)-1].Size < first {
		return nil, cmdutil.Problem(fmt.Sprintf("a call that has not ended begins at entry %d", open), "archive when it has ended: \"ambit calls list --unresolved\" shows it")
	}
	var fault error
	fit = fit[:sort.Search(len(fit), func(i int) bool {
		list, err := r.Read(ctx, fit[i].Size-1, 1)
		fault = errors.Join(fault, err)
		return err != nil || len(list) == 0 || !list[0].At.Before(before)
	})]
	if fault != nil {
		return nil, fault
	}
	if len(fit) == 0 || fit[len(fit)-1].Size < first {
		return nil, cmdutil.Problem(fmt.Sprintf("no checkpoint of entries from %d on is older than %s", first, before.UTC().Format(time.RFC3339)), "name a later time")
	}
	return &fit[len(fit)-1], nil
}

// firstOpen returns the first entry of the calls that have not ended.
func firstOpen(ctx context.Context, r *sqlite.Reader) (uint64, error) {
	first := uint64(math.MaxUint64)
	open, err := r.Unfinished(ctx)
	if err != nil {
		return 0, err
	}
	for _, key := range open {
		list, err := r.Call(ctx, key)
		if err != nil {
			return 0, err
		}
		if len(list) > 0 {
			first = min(first, list[0].Seq)
		}
	}
	return first, nil
}
