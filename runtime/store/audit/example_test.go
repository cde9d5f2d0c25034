package audit_test

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/audit"
)

func Example() {
	ctx := context.Background()
	secret, public, err := audit.GenerateKey("agents.example.com/demo")
	check(err)
	signer, err := note.NewSigner(secret)
	check(err)
	verifier, err := note.NewVerifier(public)
	check(err)

	var store journal.Memory
	var checkpoints audit.MemoryCheckpoints
	var elsewhere bytes.Buffer
	log, err := audit.New(ctx, &store, &checkpoints, signer, audit.WithAnchor(audit.NewWriterAnchor(&elsewhere)))
	check(err)
	for i, kind := range []string{"tool.invoked", "tool.started", "tool.completed"} {
		e, err := journal.NewEntry(uint64(i+1), &journal.Record{Kind: kind, At: time.Now(), Session: "s1", Call: "c1", Tool: "file_write"}, nil)
		check(err)
		check(log.Journal().Append(ctx, []journal.Entry{e}))
	}
	check(log.Close(ctx))

	notes, err := audit.ReadAnchors(&elsewhere, verifier.Name())
	check(err)
	report, err := audit.Verify(ctx, audit.NewSource(&store, &checkpoints), verifier, notes)
	check(err)
	fmt.Println(report.Verdict, report.Entries, report.Anchored)

	report, err = audit.Verify(ctx, audit.NewSource(&store, &checkpoints), verifier, nil)
	check(err)
	fmt.Println(report.Verdict)

	report, err = audit.Verify(ctx, audit.NewSource(tampered{&store}, &checkpoints), verifier, notes)
	check(err)
	fmt.Println(report.Verdict, report.Bad)
	// Output:
	// ok 3 3
	// not anchored
	// bad edited at 2: entry 2 is not what it was
}

// tampered reads a journal in which the second entry says something else.
type tampered struct{ audit.Reader }

func (t tampered) Read(ctx context.Context, after uint64, limit int) ([]journal.Entry, error) {
	list, err := t.Reader.Read(ctx, after, limit)
	for i := range list {
		if list[i].Seq == 2 {
			list[i].Leaf = bytes.Replace(list[i].Leaf, []byte("file_write"), []byte("file_read"), 1)
		}
	}
	return list, err
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
