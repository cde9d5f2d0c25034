package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/ambit-tools/ambit/runtime/store/audit"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// origin is the name of the audit's key.
const origin = "ambit.example/workspace"

// verify compares the journal with everything that was signed and anchored, as
// "ambit audit verify" does. The host has closed the store.
func (p *place) verify(ctx context.Context) (report audit.Report, err error) {
	verifier, err := audit.ReadVerifier(p.key() + audit.PublicSuffix)
	if err != nil {
		return report, err
	}
	anchored, err := os.Open(p.anchor)
	if err != nil {
		return report, err
	}
	defer anchored.Close()
	notes, err := audit.ReadAnchors(anchored, verifier.Name())
	if err != nil {
		return report, err
	}
	reader, err := sqlite.OpenReader(p.store)
	if err != nil {
		return report, err
	}
	report, err = audit.Verify(ctx, audit.NewSource(reader, reader), verifier, notes)
	report.Closed()
	return report, errors.Join(err, reader.Close())
}

// verdict verifies the audit of the journal and says how.
func (p *place) verdict(ctx context.Context) (string, error) {
	r, err := p.verify(ctx)
	switch {
	case err != nil:
	case r.Bad != nil:
		err = r.Bad
	case r.Verdict != audit.VerdictOK:
		err = errors.New(r.Verdict)
	}
	if err != nil {
		return "", fmt.Errorf("the audit of the journal: %w", err)
	}
	text := fmt.Sprintf("audit: %s, %d entries, %d of them anchored\n", r.Verdict, r.Entries, r.Anchored)
	if p.temp == "" {
		text += "to verify: " + p.verifyCommand() + "\n"
	}
	return text, nil
}

// verifyCommand is what a person types to have the journal verified.
func (p *place) verifyCommand() string {
	return fmt.Sprintf("ambit audit verify --store %s --key %s --anchor %s", p.store, p.key()+audit.PublicSuffix, p.anchor)
}
