package operate

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/store"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/host/inbox"
	"github.com/ambit-tools/ambit/runtime/host/terminal"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// Archive has the executor of a store archive, which has its own key, anchors and windows. It reports whether one serves the
// inbox: if none does, nothing was asked.
func Archive(cmd *cobra.Command, o *store.Options, wait time.Duration, before time.Time, to string) (served bool, err error) {
	v := commandVerb{Options: *o, wait: wait}
	err = v.With(func(r *sqlite.Reader) error {
		if served, err = inbox.Served(r); err != nil || !served {
			return err
		}
		name, err := nameIn(r.Path(), to)
		if err != nil {
			return err
		}
		v.Kind, v.Command.Archive = inbox.CommandArchive, &journal.CommandArchive{Before: before.UTC().Round(0), File: name}
		return v.send(cmd, r, nil)
	})
	return served, err
}

// nameIn returns the name that a file has in the folder into which the owner of a store writes segments; nothing for the
// folder itself. The owner takes no path from another process.
func nameIn(path, to string) (string, error) {
	whole, err := filepath.Abs(to)
	if err != nil {
		return "", err
	}
	dir, err := filepath.Abs(filepath.Join(filepath.Dir(path), "archive"))
	if err != nil {
		return "", err
	}
	switch {
	case same(whole, dir):
		return "", nil
	case same(filepath.Dir(whole), dir):
		return filepath.Base(whole), nil
	}
	return "", cmdutil.Problem("a process owns the store, and writes segments into "+cmdutil.Quote(dir)+" alone",
		"add --to "+cmdutil.Quote(filepath.Join(dir, filepath.Base(whole)))+", or stop that process")
}

// same reports whether two paths name one folder.
func same(a, b string) bool {
	if a == b {
		return true
	}
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// archiveRemedy is what to do about a rejection that says no remedy of its own.
func archiveRemedy(reason string) string {
	switch reason {
	case inbox.RejectedNoArchiver:
		return "the application archives nothing: open its store with runtime/host, or give inbox.Serve an inbox.Archiver"
	case string(action.CodeNotPermitted):
		return "the operator policy of the application says who may do the act \"archive\""
	case string(action.CodeInterrupted):
		return "the application ended in between: the archive has happened or has not, which \"ambit audit verify\" says"
	}
	return ""
}

// archived says what was archived.
func archived(a *journal.Archived) string {
	if a == nil {
		return "archived"
	}
	text := fmt.Sprintf("archived: %d..%d, %d bytes", a.First, a.Last, a.Bytes)
	if a.Held != "" {
		text += "\nheld back: " + terminal.Escape(a.Held)
	}
	return text
}
