package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/sqlite"
	"github.com/ambit-tools/ambit/runtime/terminal"
)

// A storeVerb is what the verbs share that look into a store.
type storeVerb struct {
	path   string
	asJSON bool
}

// flags adds the flags of every such verb to cmd.
func (v *storeVerb) flags(cmd *cobra.Command) {
	storeFlag(cmd, &v.path, "`file` of the store, as the application opens it")
	cmd.Flags().BoolVar(&v.asJSON, "json", false, "print the answer as JSON")
}

// storeVariable is the environment variable that names the store where --store does
// not.
const storeVariable = "AMBIT_STORE"

// storeFlag adds the flag that names a store. Without it, and where no other flag
// says what is read, the environment names the store.
func storeFlag(cmd *cobra.Command, path *string, use string, others ...string) {
	cmd.Flags().StringVar(path, "store", "", use+"; default: "+storeVariable+" of the environment")
	cmd.PreRun = func(cmd *cobra.Command, _ []string) {
		for _, name := range append(others, "store") {
			if cmd.Flags().Changed(name) {
				return
			}
		}
		*path = os.Getenv(storeVariable)
	}
}

// with calls f with the store, opened for reading. The process that owns it is
// not disturbed.
func (v *storeVerb) with(f func(*sqlite.Reader) error, opts ...sqlite.Option) (err error) {
	if v.path == "" {
		return errNoStore()
	}
	r, err := sqlite.OpenReader(v.path, opts...)
	if errors.Is(err, fs.ErrNotExist) {
		hint := "name the file that the application opens with sqlite.Open"
		if v.path == os.Getenv(storeVariable) {
			hint = storeVariable + " names it: " + hint
		}
		return problem("there is no store "+quote(v.path), hint)
	}
	if err != nil {
		return problem(err.Error(), "")
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return f(r)
}

// errNoStore is the error of a verb that was given no store.
func errNoStore() error {
	return usage("the name of the store is missing", "add --store FILE, the file that the application opens with sqlite.Open, or set "+storeVariable)
}

// step is how many entries are read at once.
const step = 1000

// eachEntry calls f with the entries after a position.
func eachEntry(ctx context.Context, r *sqlite.Reader, after uint64, f func(*journal.Entry) error) error {
	for {
		list, err := r.Read(ctx, after, step)
		for i := range list {
			if err := f(&list[i]); err != nil {
				return err
			}
			after = list[i].Seq
		}
		if err != nil || len(list) == 0 {
			return err
		}
	}
}

// decode returns what an entry says, with commitments in the place of sensitive values.
func decode(e *journal.Entry) (*journal.Record, error) {
	r, err := journal.Decode(e.Leaf)
	if err != nil {
		return nil, fmt.Errorf("entry %d: %w: run \"ambit audit verify\"", e.Seq, err)
	}
	return r, nil
}

// bookOf returns the requests and grants of a store.
func bookOf(ctx context.Context, r *sqlite.Reader) (*consent.Book, error) {
	book := consent.NewBook(nil) // the key is for judging, which happens elsewhere
	err := eachConsent(ctx, r, math.MaxUint64, func(e *journal.Entry, changes []consent.Event) error {
		for i := range changes {
			if err := book.Apply(&changes[i]); err != nil {
				return fmt.Errorf("entry %d: %w: run \"ambit audit verify\"", e.Seq, err)
			}
		}
		return nil
	})
	return book, err
}

// errSeen ends a look at entries of which the rest is of no interest.
var errSeen = errors.New("all was seen")

// eachConsent calls f with the entries up to a position that tell of requests or
// grants, and with what they tell.
func eachConsent(ctx context.Context, r *sqlite.Reader, last uint64, f func(*journal.Entry, []consent.Event) error) error {
	err := eachEntry(ctx, r, 0, func(e *journal.Entry) error {
		if e.Seq > last {
			return errSeen
		}
		if !bytes.Contains(e.Leaf, []byte(`"consent":[`)) {
			return nil
		}
		rec, err := decode(e)
		if err != nil {
			return err
		}
		return f(e, rec.Consent)
	})
	if errors.Is(err, errSeen) {
		err = nil
	}
	return err
}

// table prints rows in columns. It escapes the cells, because some hold text of
// models and tools.
func table(w io.Writer, head []string, rows [][]string) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{head}, rows...) {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = cmp.Or(terminal.Escape(cell), "-")
		}
		fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	t.Flush() //nolint:errcheck // the writer below remembers
}

// list prints what a verb lists, under a name as JSON, or as a table.
func (v *storeVerb) list(w io.Writer, name string, items any, head []string, rows [][]string) error {
	if v.asJSON {
		return printJSON(w, map[string]any{name: items})
	}
	table(w, head, rows)
	return nil
}

// instant is how times are printed; that of the zero one is empty.
func instant(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format("2006-01-02T15:04:05.000Z")
}
