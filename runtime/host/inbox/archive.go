package inbox

import (
	"context"
	"errors"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// Archiver moves old entries of the store to a segment: a host.
type Archiver interface {
	// Archive moves the entries from before a time to a file of this name in the archiver's folder, or to one
	// that is named by its entries and its store when the name is empty. The name comes from another process: Archive refuses one that
	// leads elsewhere, and replaces no file. The text of an error is for operators; one with a method Hint() string says
	// what to do.
	Archive(ctx context.Context, before time.Time, name string) (*journal.Archived, error)
}

// WithArchiver lets operators archive old entries of the store while its owner runs, those whom the operator
// policy allows it (runtime.ActArchive). Without it a Server rejects such a command with RejectedNoArchiver.
func WithArchiver(a Archiver) Option { return func(s *Server) { s.archiver = a } }

// archive executes a command to archive (SEMANTICS 6.14.3).
func (c *Command) archive(ctx context.Context, e *engine.Executor) CommandResult {
	if c.archiver == nil {
		return CommandResult{Result: resultRejected, Reason: RejectedNoArchiver}
	}
	if err := e.May(ctx, runtime.ActArchive, c.actor(), runtime.ActTarget{}); err != nil {
		res := resultOf(err)
		res.Error = detailOf(err)
		return res
	}
	done, err := c.archiver.Archive(ctx, c.Archive.Before, c.Archive.File)
	if err == nil {
		return CommandResult{Done: true, Result: runtime.ResolutionAccepted.String(), Archived: done}
	}
	res := CommandResult{Result: resultRejected, Reason: RejectedArchive, Error: err.Error()}
	if ctx.Err() != nil {
		res.Reason = string(action.CodeInterrupted)
	}
	if r, ok := errors.AsType[interface {
		error
		Hint() string
	}](err); ok {
		res.Remedy = r.Hint()
	}
	return res
}
