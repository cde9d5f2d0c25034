package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/audit"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

const (
	perSession   = 10
	openSessions = 100
	batch        = 5_000 // entries of one Append
)

// zeros stands for the number of a session, in its id and in those of its run and calls.
const zeros = "00000000"

// A template is the entries of a session of ten calls. The last ones close its run.
type template struct {
	entries []journal.Entry
	closing int // how many entries close it
}

// record makes the calls of a template.
func record(ctx context.Context) (t *template, err error) {
	var j journal.Memory
	exec, err := newExecutor(ctx, &j)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, exec.Shutdown(context.WithoutCancel(ctx))) }()
	own, err := j.Read(ctx, 0, batch) // of the start, which is of no session
	if err != nil {
		return nil, err
	}
	run, err := startRun(ctx, exec, "s"+zeros, "r"+zeros)
	if err != nil {
		return nil, err
	}
	for i := range perSession {
		if err := call(ctx, run, fmt.Sprintf("c%s-%d", zeros, i)); err != nil {
			return nil, err
		}
	}
	before, err := j.Read(ctx, 0, batch)
	if err != nil {
		return nil, err
	}
	if err := run.Close(ctx); err != nil {
		return nil, err
	}
	all, err := j.Read(ctx, 0, batch)
	return &template{all[len(own):], len(all) - len(before)}, err
}

// session returns the entries of a session after a position.
func (t *template) session(number int, after uint64, open bool) []journal.Entry {
	list := t.entries
	if open {
		list = list[:len(list)-t.closing]
	}
	name := fmt.Sprintf("%08d", number)
	out := make([]journal.Entry, len(list))
	for i, e := range list {
		e.Seq = after + uint64(i) + 1
		e.Session = strings.ReplaceAll(e.Session, zeros, name)
		e.Run = strings.ReplaceAll(e.Run, zeros, name)
		e.Call = strings.ReplaceAll(e.Call, zeros, name)
		e.Leaf = bytes.ReplaceAll(e.Leaf, []byte(zeros), []byte(name))
		out[i] = e
	}
	return out
}

// A made store is one that was generated, with the files beside it.
type made struct {
	path  string
	calls int
}

func (m made) anchor() string { return m.path + ".notes" }
func (m made) key() string    { return m.path + ".key" }

// firstCall returns the id of the first call.
func (m made) firstCall() string { return "c" + zeros + "-0" }

// open opens the store and its audit log.
func (m made) open(ctx context.Context) (*sqlite.Store, *audit.Log, error) {
	s, err := sqlite.Open(m.path)
	if err != nil {
		return nil, nil, err
	}
	signer, err := audit.ReadSigner(m.key())
	if err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	log, err := audit.New(ctx, s, audit.NewCheckpoints(s), signer, audit.WithAnchor(audit.FileAnchor{Path: m.anchor()}))
	if err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	return s, log, nil
}

// generate writes a store of so many calls.
func generate(ctx context.Context, m made) (err error) {
	t, err := record(ctx)
	if err != nil {
		return err
	}
	secret, public, err := audit.GenerateKey("longrun.example/log")
	if err != nil {
		return err
	}
	if _, err := note.NewSigner(secret); err != nil {
		return err
	}
	if err := audit.WriteKeys(m.key(), secret, public); err != nil {
		return err
	}
	s, log, err := m.open(ctx)
	if err != nil {
		return err
	}
	defer func() {
		ctx := context.WithoutCancel(ctx)
		err = errors.Join(err, log.Close(ctx), s.Close())
	}()
	j := log.Journal()
	var pending []journal.Entry
	after := uint64(0)
	sessions := m.calls / perSession
	for n := range sessions {
		list := t.session(n, after, sessions-n <= openSessions)
		after += uint64(len(list))
		pending = append(pending, list...)
		if len(pending) < batch && n+1 < sessions {
			continue
		}
		if err := j.Append(ctx, pending); err != nil {
			return err
		}
		if err := log.Checkpoint(ctx); err != nil {
			return err
		}
		pending = pending[:0]
	}
	return nil
}
