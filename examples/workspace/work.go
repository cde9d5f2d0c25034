package main

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/ambit-tools/ambit/examples/workspace/filetools"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/host"
	"github.com/ambit-tools/ambit/runtime/host/console"
	"github.com/ambit-tools/ambit/runtime/store/audit"
)

//go:embed filetools/policy
var embedded embed.FS

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
	return workOn(ctx, &cfg, at, func(start uint64) callSeq { return calls(ctx, name, start, source) }, rep)
}

// workOn is work with everything open but the host.
func workOn(ctx context.Context, cfg *config, at *place, source func(start uint64) callSeq, rep *report) error {
	web, err := openLibrary()
	if err != nil {
		return err
	}
	defer web.close()
	handler := &tools{web: web, outbox: at.outbox()}
	if cfg.crash {
		handler.victim = victim
	}
	rev := &reviewer{rep: rep, says: cfg.approve, tools: handler}
	// A real program has its anchor where a process that can write the journal cannot
	// write: on another volume, with another owner, in a log service.
	h, err := host.Open(ctx, host.Config{
		Tools:     filetools.Tools(handler),
		Policies:  policies(),
		Dir:       filepath.Dir(at.store),
		Store:     filepath.Base(at.store),
		Workspace: at.dir,
		Anchor:    audit.FileAnchor{Path: at.anchor},
		Origin:    origin,
		Serve:     pagesAt(cfg.serve, rep.errs),
		Report:    rep.operator, Setup: rev.setup,
	})
	if err != nil {
		return err
	}
	err = execute(ctx, cfg, at, source(h.Store.Epoch()), rev)
	if cfg.serve != "" && ctx.Err() != nil {
		err = nil // an interrupt is how it ends
	}
	closing, stop := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer stop()
	err = errors.Join(err, h.Close(closing)) // now it is known what became of late writes
	verdict, bad := at.verdict(closing)
	return errors.Join(err, bad, rep.summary(&handler.late, verdict), rep.unread())
}

// pagesAt says that the console is served at an address; without one nothing is.
func pagesAt(addr string, out io.Writer) host.Serve {
	if addr == "" {
		return host.Serve{}
	}
	mount := console.Mount(console.Options{Title: "Workspace", Out: out})
	return host.Serve{Addr: addr, Mount: []func(*host.Host) (string, http.Handler){mount}}
}

// policies holds the Rego policies of the tools.
func policies() fs.FS {
	rules, err := fs.Sub(embedded, "filetools/policy")
	if err != nil { // the path is not valid
		panic(err)
	}
	return rules
}

// execute shows what was recovered, and makes every call in one turn of one run.
func execute(ctx context.Context, cfg *config, at *place, source callSeq, rev *reviewer) error {
	session := func() *engine.Session {
		return rev.host.Executor.Session(engine.SessionConfig{
			ID:           "workspace",
			Principal:    "agent",
			Behavior:     cfg.behavior,
			Modes:        map[string]string{"web_mode": cfg.webMode},
			Capabilities: []string{"filesystem.read", "filesystem.write", "network.read", "message.send"},
		})
	}
	if at.temp == "" && rev.host.Store.Epoch() > 1 {
		rev.rep.note("this start goes on with an earlier one on " + oneLine(at.store) + ": calls that have an outcome there are answered with it, and not made again")
	}
	if err := showRecovered(ctx, session, rev); err != nil {
		return err
	}
	job, err := session().StartRun(ctx, engine.RunConfig{})
	if err != nil {
		return err
	}
	// A program that may be killed at any moment has the first entries signed at once:
	// the next start then need not take them on trust.
	if err := rev.host.Audit.Checkpoint(ctx); err != nil {
		return err
	}
	turn := engine.TurnConfig{Budget: 10 * time.Minute}
	if cfg.approve != "later" {
		turn.ConsentWait = time.Minute
	}
	if err := makeCalls(ctx, session(), job.Turn(turn), source, rev); err != nil {
		return err
	}
	if cfg.serve != "" {
		<-ctx.Done()
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
			_, err = session.Undo(ctx, action.UndoRequest{CallID: c.ID, By: runtime.ProgramActor(reviewerName)})
			err = rev.rep.undone(c.ID, now(session, c.ID).Tool, err, time.Since(began))
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
