package main

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/ambit-tools/ambit/examples/workspace/filetools"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/audit"
	"github.com/ambit-tools/ambit/runtime/opa"
)

//go:embed filetools/policy
var policies embed.FS

// farewell is how long handlers that were given up may take to return.
const farewell = 5 * time.Second

// work makes the calls and reports their outcomes. After a failed call, too, it
// prints the summary and removes what is temporary.
func work(ctx context.Context, cfg config, stdin io.Reader, stdout, stderr io.Writer) (err error) {
	source, name, err := openCalls(&cfg, stdin)
	if err != nil {
		return err
	}
	defer source.Close()
	at, err := newPlace(&cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, at.remove()) }()
	rep := &report{out: stdout, errs: stderr, json: cfg.json, place: at.name}
	if cfg.crash && cfg.store == "" {
		if err := crashFirst(ctx, at, &cfg, stdout, stderr); err != nil {
			return err
		}
		cfg.crash = false
		if err := rep.heading(fmt.Sprintf("killed in the middle of %q; the same program starts again on the same store", victim)); err != nil {
			return err
		}
	}
	s, err := openStores(ctx, at, stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	return workOn(ctx, &cfg, s, calls(ctx, name, s.journal.Epoch(), source), rep, stderr)
}

// workOn is work with everything open.
func workOn(ctx context.Context, cfg *config, s *stores, source callSeq, rep *report, stderr io.Writer) (err error) {
	web, err := openLibrary()
	if err != nil {
		return err
	}
	defer web.close()
	handler := &tools{ws: s.ws, web: web, outbox: s.at.outbox()}
	if cfg.crash {
		handler.victim = victim
	}
	rev := &reviewer{rep: rep, says: cfg.approve}
	if rev.exec, err = newExecutor(handler, s, rev, stderr); err != nil {
		return err
	}
	err = execute(ctx, cfg, s, source, rev)
	closing, stop := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer stop()
	err = errors.Join(err, rev.exec.Shutdown(closing)) // now it is known what became of late writes
	verdict, bad := verdict(closing, s)
	return errors.Join(err, bad, rep.summary(&handler.late, verdict), rep.unread())
}

// newExecutor binds the generated tools to handler and the policy to both.
func newExecutor(handler filetools.Handler, s *stores, rev *reviewer, stderr io.Writer) (*engine.Executor, error) {
	reg, err := runtime.NewRegistry(filetools.Tools(handler)...)
	if err != nil {
		return nil, err
	}
	rules, err := fs.Sub(policies, "filetools/policy")
	if err != nil {
		return nil, err
	}
	policy, err := opa.Load(rules, reg)
	if err != nil {
		return nil, err
	}
	who := engine.WithApprover(rev)
	if rev.says == "later" {
		who = engine.WithPendingRequests()
	}
	// An example may run on a machine that is busy with other things. Panics and
	// raw errors go to the operator; the agent sees a safe text.
	return engine.NewExecutor(reg, policy, who, engine.WithJournal(s.log.Journal()), engine.WithParticipant("files", s.ws),
		engine.WithErrorHandler(func(e *engine.CallError) {
			var fault error = e
			if errors.Is(e, runtime.ErrFenced) { // which names the call itself
				fault = e.Err
			}
			fmt.Fprintf(stderr, "operator: %s\n", oneLine(fault.Error()))
		}))
}

// execute recovers, and makes every call in one turn of one run.
func execute(ctx context.Context, cfg *config, s *stores, source callSeq, rev *reviewer) error {
	session := func() *engine.Session {
		return rev.exec.Session(engine.SessionConfig{
			ID:           "workspace",
			Principal:    "agent",
			Behavior:     cfg.behavior,
			Modes:        map[string]string{"web_mode": cfg.webMode},
			Capabilities: []string{"filesystem.read", "filesystem.write", "network.read", "message.send"},
		})
	}
	if s.at.temp == "" && s.journal.Epoch() > 1 {
		rev.rep.note("this start goes on with an earlier one on " + oneLine(s.at.store) + ": calls that have an outcome there are answered with it, and not made again")
	}
	if err := recoverCalls(ctx, s, session, rev); err != nil {
		return err
	}
	job, err := session().StartRun(ctx, engine.RunConfig{})
	if err != nil {
		return err
	}
	// Who may be killed at any moment has the first entries signed at once: the next
	// start then need not take them on trust.
	if err := s.log.Checkpoint(ctx); err != nil {
		return err
	}
	turn := engine.TurnConfig{Budget: 10 * time.Minute}
	if cfg.approve != "later" {
		turn.ConsentWait = time.Minute
	}
	if err := makeCalls(ctx, session(), job.Turn(turn), source, rev); err != nil {
		return err
	}
	if cfg.approve == "later" {
		return nil // the run goes on when an approver answers
	}
	return job.Close(ctx)
}

// makeCalls does what the lines say.
func makeCalls(ctx context.Context, session *engine.Session, turn *engine.Turn, source callSeq, rev *reviewer) error {
	for c, err := range source {
		if bad, ok := errors.AsType[*badLine](err); ok {
			rev.rep.refuse(bad)
			continue
		}
		if err != nil {
			return err
		}
		switch c.Do {
		case doUndo:
			began := time.Now()
			res := session.Undo(ctx, engine.UndoRequest{CallID: c.ID, By: reviewerName})
			err = rev.rep.undone(c.ID, now(session, c.ID).Tool, res, time.Since(began))
		case doApprove, doDeny:
			err = rev.answerLine(ctx, session, c)
		default:
			err = rev.rep.add(turn.Execute(ctx, runtime.Call{ID: c.ID, Tool: c.Tool, Input: c.Input}))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// now returns how a call stands, without waiting for anything.
func now(session *engine.Session, id string) runtime.Outcome {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	return session.Await(ctx, id)
}

// answerLine answers the request about a call; when there is none any more it
// shows how the call ended.
func (r *reviewer) answerLine(ctx context.Context, session *engine.Session, c call) error {
	req := r.find(c.ID)
	if req == nil {
		ctx, stop := context.WithTimeout(ctx, patience)
		defer stop()
		return r.rep.show(session.Await(ctx, c.ID))
	}
	out, err := r.answer(ctx, req, c.Do == doApprove)
	if err != nil {
		return err
	}
	return r.rep.show(*out)
}

// verdict verifies the audit of the journal and says how.
func verdict(ctx context.Context, s *stores) (string, error) {
	r, err := s.verify(ctx)
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
	if s.at.temp == "" {
		text += "to verify: " + s.at.verifyCommand() + "\n"
	}
	return text, nil
}

// openCalls returns where calls are read from and its name for errors.
func openCalls(cfg *config, stdin io.Reader) (io.ReadCloser, string, error) {
	switch {
	case cfg.calls == "" && cfg.crash && cfg.store != "":
		return io.NopCloser(bytes.NewReader(crashScript)), "crash.jsonl", nil
	case cfg.calls == "":
		return io.NopCloser(bytes.NewReader(script)), "calls.jsonl", nil
	case cfg.calls == "-":
		return io.NopCloser(stdin), "standard input", nil
	}
	f, err := os.Open(cfg.calls)
	if err == nil {
		err = readable(f)
	}
	if err != nil {
		return nil, "", fileError("-calls", cfg.calls, err, "name a file with one call a line, or - for standard input")
	}
	return f, cfg.calls, nil
}

// readable refuses a folder before anything is done, and closes it.
func readable(f *os.File) error {
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = errors.New("it is a folder")
	}
	if err != nil {
		f.Close()
	}
	return err
}
