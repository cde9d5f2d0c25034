package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// PollInterval is how often a verb reads the store while it waits for something in it.
const PollInterval = 10 * time.Millisecond

// Options are the flags of the verbs that read a store.
type Options struct {
	Path   string
	AsJSON bool
}

// AddFlags adds the flags to cmd.
func (v *Options) AddFlags(cmd *cobra.Command) {
	AddFlag(cmd, &v.Path, "`file` of the store, as the application opens it")
	cmd.Flags().BoolVar(&v.AsJSON, "json", false, "print the answer as JSON")
}

// Variable is the environment variable that names the store where --store does
// not.
const Variable = "AMBIT_STORE"

// AddFlag adds the flag that names a store. Without it, and where no other flag
// says what is read, the environment names the store.
func AddFlag(cmd *cobra.Command, path *string, use string, others ...string) {
	cmd.Flags().StringVar(path, "store", "", use+"; default: "+Variable+" of the environment")
	cmd.PreRun = func(cmd *cobra.Command, _ []string) {
		for _, name := range append(others, "store") {
			if cmd.Flags().Changed(name) {
				return
			}
		}
		*path = os.Getenv(Variable)
	}
}

// With calls f with the store, opened for reading. The process that owns it is
// not disturbed.
func (v *Options) With(f func(*sqlite.Reader) error, opts ...sqlite.Option) (err error) {
	if v.Path == "" {
		return Missing()
	}
	r, err := sqlite.OpenReader(v.Path, opts...)
	if _, missing := os.Stat(v.Path); errors.Is(err, fs.ErrNotExist) && errors.Is(missing, fs.ErrNotExist) { // else a file beside it is missing
		hint := "name the file that the application opens with sqlite.Open"
		if v.Path == os.Getenv(Variable) {
			hint = Variable + " names it: " + hint
		}
		return cmdutil.Problem("there is no store "+cmdutil.Quote(v.Path), hint)
	}
	if err != nil {
		return cmdutil.Problem(err.Error(), "")
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return f(r)
}

// Missing is the error of a verb that was given no store.
func Missing() error {
	return cmdutil.Usage("the name of the store is missing", "add --store FILE, the file that the application opens with sqlite.Open, or set "+Variable)
}

// PageSize is how many entries are read at once.
const PageSize = 1000

// EachEntry calls f with the entries after a position.
func EachEntry(ctx context.Context, r Reader, after uint64, f func(*journal.Entry) error) error {
	for {
		list, err := r.Read(ctx, after, PageSize)
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

// Decode returns what an entry says, with commitments in the place of sensitive values.
func Decode(e *journal.Entry) (*journal.Record, error) {
	r, err := journal.Decode(e.Leaf)
	if err != nil {
		return nil, fmt.Errorf("entry %d: %w: run \"ambit audit verify\"", e.Seq, err)
	}
	return r, nil
}

// List prints what a verb lists, under a name as JSON, or as a table.
func (v *Options) List(w io.Writer, name string, items any, head []string, rows [][]string) error {
	if v.AsJSON {
		return cmdutil.PrintJSON(w, map[string]any{name: items})
	}
	cmdutil.Table(w, head, rows)
	return nil
}
