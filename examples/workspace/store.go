package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/ambit-tools/ambit/runtime/audit"
	"github.com/ambit-tools/ambit/runtime/content"
	"github.com/ambit-tools/ambit/runtime/sqlite"
	"github.com/ambit-tools/ambit/runtime/workspace"
)

// origin is the name of the audit's key.
const origin = "ambit.example/workspace"

// stores is what outlives the program: the journal with its audit, the contents
// that undo needs, and the workspace.
type stores struct {
	at      *place
	journal *sqlite.Store
	log     *audit.Log
	objects *content.Store
	ws      *workspace.Workspace
}

// openStores opens all of them, or none.
func openStores(ctx context.Context, at *place, operator io.Writer) (s *stores, err error) {
	s = &stores{at: at}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if s.journal, err = sqlite.Open(at.store); err != nil {
		return s, err
	}
	signer, err := audit.OpenSigner(s.at.key(), origin, s.journal.Health().Head == 0)
	if err != nil {
		return s, err
	}
	// A real program has its anchor where a process that can write the journal cannot
	// write: on another volume, with another owner, in a log service.
	s.log, err = audit.New(ctx, s.journal, audit.NewCheckpoints(s.journal), signer, audit.WithAnchor(audit.FileAnchor{Path: at.anchor}),
		audit.WithReport(func(err error) { fmt.Fprintf(operator, "operator: audit: %s\n", oneLine(err.Error())) }))
	if err != nil {
		return s, err
	}
	if s.objects, err = content.Open(at.objects()); err != nil {
		return s, err
	}
	s.ws, err = workspace.Open(at.dir, s.objects, workspace.UndoLogs(at.undo()))
	return s, err
}

// verify signs what is not signed yet and compares the journal with everything
// that was signed and anchored, as "ambit audit verify" does.
func (s *stores) verify(ctx context.Context) (report audit.Report, err error) {
	if err := s.log.Checkpoint(ctx); err != nil {
		return report, err
	}
	verifier, err := audit.ReadVerifier(s.at.key() + audit.PublicSuffix)
	if err != nil {
		return report, err
	}
	anchored, err := os.Open(s.at.anchor)
	if err != nil {
		return report, err
	}
	defer anchored.Close()
	notes, err := audit.ReadAnchors(anchored, verifier.Name())
	if err != nil {
		return report, err
	}
	return audit.Verify(ctx, audit.NewSource(s.journal, audit.NewCheckpoints(s.journal)), verifier, notes)
}

// verifyCommand is what a person types to have the journal verified.
func (p *place) verifyCommand() string {
	return fmt.Sprintf("ambit audit verify --store %s --key %s --anchor %s", p.store, p.key()+audit.PublicSuffix, p.anchor)
}

// close closes what is open, in the order in which it depends on each other.
func (s *stores) close() error {
	var errs []error
	if s.log != nil {
		errs = append(errs, s.log.Close(context.Background()))
	}
	if s.ws != nil {
		errs = append(errs, s.ws.Close())
	}
	if s.objects != nil {
		errs = append(errs, s.objects.Close())
	}
	if s.journal != nil {
		errs = append(errs, s.journal.Close())
	}
	return errors.Join(errs...)
}
