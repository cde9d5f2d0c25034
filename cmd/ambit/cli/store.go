package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
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
	cmd.Flags().StringVar(&v.path, "store", "", "`file` of the store, as the application opens it")
	cmd.Flags().BoolVar(&v.asJSON, "json", false, "print the answer as JSON")
}

// with calls f with the store, opened for reading. The process that owns it is
// not disturbed.
func (v *storeVerb) with(f func(*sqlite.Reader) error) (err error) {
	if v.path == "" {
		return errNoStore()
	}
	r, err := sqlite.OpenReader(v.path)
	if errors.Is(err, fs.ErrNotExist) {
		return problem("there is no store "+quote(v.path), "name the file that the application opens with sqlite.Open")
	}
	if err != nil {
		return problem(err.Error(), "")
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return f(r)
}

// errNoStore is what verbs say that were not told of a store.
func errNoStore() error {
	return usage("the name of the store is missing", "add --store FILE, the file that the application opens with sqlite.Open")
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
	err := eachEntry(ctx, r, 0, func(e *journal.Entry) error {
		if !bytes.Contains(e.Leaf, []byte(`"consent":[`)) {
			return nil
		}
		rec, err := decode(e)
		if err != nil {
			return err
		}
		for i := range rec.Consent {
			if err := book.Apply(&rec.Consent[i]); err != nil {
				return fmt.Errorf("entry %d: %w: run \"ambit audit verify\"", e.Seq, err)
			}
		}
		return nil
	})
	return book, err
}

// findCall returns the call of an id, which may be in one session only unless
// that is named.
func findCall(ctx context.Context, r *sqlite.Reader, session, call string) (sqlite.CallRow, error) {
	rows, err := r.Calls(ctx, sqlite.CallFilter{Session: session, Call: call})
	return theOnly(rows, err, "call "+quote(call), session)
}

// findRun is findCall for a call of a run.
func findRun(ctx context.Context, r *sqlite.Reader, session, run string) (sqlite.CallRow, error) {
	rows, err := r.Calls(ctx, sqlite.CallFilter{Session: session, Run: run, Limit: step})
	return theOnly(rows, err, "run "+quote(run), session)
}

func theOnly(rows []sqlite.CallRow, err error, what, session string) (sqlite.CallRow, error) {
	switch {
	case err != nil:
		return sqlite.CallRow{}, problem(err.Error(), "")
	case len(rows) == 0 && session != "":
		return sqlite.CallRow{}, problem("there is no "+what+" in session "+quote(session), "\"ambit calls list\" lists the calls")
	case len(rows) == 0:
		return sqlite.CallRow{}, problem("there is no "+what, "\"ambit calls list\" lists the calls")
	}
	for _, row := range rows[1:] {
		if row.Session != rows[0].Session {
			return row, usage("there is a "+what+" in session "+quote(row.Session)+" and in session "+quote(rows[0].Session), "add --session ID")
		}
	}
	return rows[0], nil
}

// table prints rows in columns. What others have written is made safe to show.
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
