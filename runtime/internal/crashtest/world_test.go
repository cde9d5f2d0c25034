package crashtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/engine"

	"golang.org/x/mod/sumdb/note"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/content"
	"github.com/ambit-tools/ambit/runtime/internal/simdisk"
	"github.com/ambit-tools/ambit/runtime/internal/simfs"
	"github.com/ambit-tools/ambit/runtime/internal/simhooks"
	"github.com/ambit-tools/ambit/runtime/internal/simulated"
	"github.com/ambit-tools/ambit/runtime/store/audit"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
	"github.com/ambit-tools/ambit/runtime/workspace"
)

// A world is a program on a machine, with its callers and approvers. Worlds with
// different seeds follow each other on one machine.
type world struct {
	ctx      context.Context
	m        *machine
	reg      *runtime.Registry
	signer   note.Signer
	verifier note.Verifier

	mayForget bool           // worlds may be forgetful
	tally     map[string]int // what happened how often, in all worlds
	seed      uint64
	rng       *rand.Rand
	snaps     *rand.Rand // when snapshots are written
	cuts      *rand.Rand // when entries are archived
	forgets   *rand.Rand // when calls are forgotten, and segments deleted
	forgetful bool       // calls are forgotten
	log       []string   // what was done
	now       time.Duration
	faulty    bool // the disks may fail in this life
	broken    bool // the disk for files has failed
	slow      bool // a handler may still run when its call has ended
	lost      bool // a caller was told journal_unavailable in this life

	store *sqlite.Store
	shop  shop              // what of it the program has
	base  map[string][]byte // the disk with a new store, which is open
	clock *simulated.Clock
	ws    *workspace.Workspace
	audit *audit.Log
	exec  *engine.Executor
	hooks *simhooks.Hooks
	host  *host
	run   *engine.Run
	turn  *engine.Turn
}

// patience is how long, in real time, a step may take that never ends.
const patience = 5 * time.Minute

func newWorld(ctx context.Context, m *machine) (*world, error) {
	w := &world{ctx: ctx, m: m, tally: map[string]int{}}
	secret, public, err := audit.GenerateKey("battery")
	if err != nil {
		return nil, err
	}
	w.signer, err = note.NewSigner(secret)
	if err == nil {
		w.verifier, err = note.NewVerifier(public)
	}
	if err == nil {
		w.reg, err = w.registry()
	}
	return w, err
}

// blank returns a disk with the directories that a program needs.
func blank(seed uint64) (*simfs.Disk, error) {
	d := simfs.New(seed)
	root := d.Root()
	for _, name := range []string{"ws", "undo", "content", "archive"} {
		if err := root.Mkdir(name, 0o755); err != nil {
			return nil, err
		}
	}
	return d, root.Sync(".")
}

// begin makes w the world of another seed.
func (w *world) begin(seed uint64) {
	w.seed, w.rng, w.snaps, w.log, w.now = seed, rand.New(rand.NewPCG(seed, 7)), rand.New(rand.NewPCG(seed, 9)), w.log[:0], 0
	w.cuts, w.forgets = rand.New(rand.NewPCG(seed, 11)), rand.New(rand.NewPCG(seed, 13))
	w.forgetful = w.mayForget && seed%2 == 0
}

func (w *world) say(format string, args ...any) {
	if verbose {
		w.log = append(w.log, fmt.Sprintf(format, args...))
	}
}

// open starts the program on an open store, up to where it has recovered.
func (w *world) open() error {
	w.lost = false
	w.now += time.Minute
	w.clock = simulated.NewClock()
	w.clock.Patience = patience
	if err := w.clock.Advance(w.now); err != nil {
		return err
	}
	root := w.m.files.Root()
	ws, err := root.Sub("ws")
	if err != nil {
		return err
	}
	logs, err := root.Sub("undo")
	if err != nil {
		return err
	}
	objects, err := root.Sub("content")
	if err != nil {
		return err
	}
	if w.shop = w.store; !w.m.cuts {
		f := &front{Store: w.store, m: w.m}
		all, err := w.readAll()
		if err = errors.Join(err, f.load(w.ctx, all)); err != nil {
			return err
		}
		w.shop = f
	}
	if err := w.moved(); err != nil {
		return err
	}
	store := content.On(objects)
	w.ws = workspace.OnDisk(ws, logs, store)
	w.audit, err = audit.New(w.ctx, w.shop, audit.NewCheckpoints(w.shop), w.signer,
		audit.WithAnchor(audit.AnchorFunc(w.anchor)), audit.WithReport(func(error) {}),
		audit.WithAfterFunc(func(d time.Duration, f func()) func() bool { return w.clock.AfterFunc(d, f).Stop }))
	if err != nil {
		return fmt.Errorf("the audit log: %w", err)
	}
	w.exec, err = engine.NewExecutor(w.reg, runtime.PolicyFunc(allow), engine.WithClock(w.clock), engine.WithJournal(w.audit.Journal()),
		engine.WithParticipant("files", w.ws), engine.WithMinimumBudget(0), engine.WithPolicyTimeout(time.Hour),
		engine.WithArtifacts(artifacts{store}), engine.WithSegments(archives{w}), engine.WithApprover(consent.ApproverFunc(w.notify)),
		engine.WithProcesses(engine.ProcessConfig{Runner: w.newHost()}))
	if err == nil {
		err = w.remember()
	}
	if err != nil {
		return err
	}
	w.hooks = new(simhooks.Hooks)
	err = w.perform(func() error { return w.exec.Recover(simhooks.With(w.ctx, w.hooks)) })
	w.say("recover: %v", err)
	if w.m.dead() {
		w.tally["crash of a recovery"]++
	}
	return err
}

func allow(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
	return runtime.Decision{Effect: runtime.EffectAllow}, nil
}

// anchor keeps a note outside.
func (w *world) anchor(_ context.Context, signed []byte) error {
	w.m.note(func(m *model) { m.anchors = append(m.anchors, signed) })
	return nil
}

// notify is how an approver is told of a request.
func (w *world) notify(_ context.Context, r *consent.Notice) error {
	w.m.touch(func(m *model) {
		if k := m.call(r.CallID); k != nil {
			k.request = r.ID
		}
	})
	return nil
}

// perform does a step, with all the time that it takes. An answer waits for a disk that is full, and
// its write is tried again and again: after an hour there is room.
func (w *world) perform(f func() error) (err error) {
	room := w.clock.AfterFunc(time.Hour, w.m.db.Room)
	defer room.Stop()
	return errors.Join(w.clock.Perform(func() { err = f() }), err)
}

// aim cuts the power soon, one of so many times, when a caller or an approver has just
// received an answer. The lock of the machine is held.
func (w *world) aim(oneOf int) {
	if w.rng.IntN(oneOf) == 0 {
		w.m.soon()
	}
}

// close ends the program, also while calls run.
func (w *world) close() error {
	if w.exec == nil {
		return nil
	}
	// A commit that was decided waits for room on the disk, and a machine that is dead never has it: after
	// an hour the shutdown ends without it.
	ctx, cancel := context.WithCancel(w.ctx)
	defer cancel()
	patience := w.clock.AfterFunc(time.Hour, cancel)
	err := w.perform(func() error { return w.exec.Shutdown(ctx) })
	patience.Stop()
	if w.m.dead() || w.faulty {
		err = nil
	}
	err = errors.Join(err, w.clock.Advance(time.Minute)) // nothing is under way any more
	w.now = w.clock.Now().Sub(simulated.Epoch())
	_ = w.audit.Close(w.ctx) // what it cannot sign is signed in the next life
	w.exec = nil
	return err
}

// life starts the program, uses it until the power goes, and ends it.
func (w *world) life() error {
	w.faulty, w.broken = w.m.cuts && w.rng.IntN(2) == 0, false
	w.m.arm(1 + w.rng.IntN(reach))
	err := w.open()
	if err == nil {
		err = w.check()
	}
	if err == nil && w.faulty {
		w.disturb()
	}
	for range steps {
		if err == nil && w.lost {
			err = w.makeRoom()
		}
		if err == nil && !w.m.dead() && !w.lost && !w.broken {
			err = w.step()
		}
	}
	if err == nil && !w.m.dead() && w.faulty {
		err = w.checkDenied()
	}
	if !w.m.dead() {
		w.tally["crash at rest"]++
	}
	if w.m.dead() { // a dead machine says anything
		err = nil
	}
	w.m.crash()
	w.say("crash")
	return errors.Join(err, w.close())
}

// makeRoom gives a disk that was full room again, if that is all that it lacks: the
// program goes on then.
func (w *world) makeRoom() error {
	if w.m.dead() || w.store.Health().Lost != nil {
		return nil
	}
	w.m.db.Room()
	w.tally["room again"]++
	w.say("room again")
	if err := w.clock.Advance(time.Second); err != nil {
		return err
	}
	var ids []string
	var undoing []string
	closing, ending := false, false
	w.m.note(func(m *model) {
		if closing, ending = m.closing, m.ending; ending {
			return
		}
		for _, k := range m.present() {
			if k.outcome == nil && (k.refused || k.flying && k.request == "" || closing && k.request != "") {
				ids = append(ids, k.id)
			}
			if k.undoing {
				undoing = append(undoing, k.id)
			}
		}
	})
	for _, id := range ids { // what was told to be unknown is known now
		if err := w.ask(id); err != nil {
			return err
		}
	}
	w.lost = false
	for _, id := range undoing { // one that was decided has gone on; any other is tried again
		if err := w.undoCall(id); err != nil {
			return err
		}
	}
	switch {
	case ending:
		return w.endSession()
	case closing:
		return w.closeRun()
	}
	return nil
}

// A life takes so many steps at most, and so many operations.
const (
	steps = 3
	reach = 75
)

// disturb lets the disks fail.
func (w *world) disturb() {
	w.m.arm(0)
	w.say("the disks fail")
	db := []simdisk.Fault{simdisk.NoFault, simdisk.SyncFail, simdisk.SyncFail, simdisk.WriteFail, simdisk.Full}[w.rng.IntN(5)]
	w.m.db.Inject(db, 1+w.rng.IntN(8))
	if w.rng.IntN(4) == 0 { // it is not only the journal that meets them
		w.m.db.Inject(db, 1)
		_ = w.audit.Checkpoint(w.ctx)
	}
	w.m.files.Fail([]simfs.Faults{{}, {}, {Sync: 8}, {Write: 20, Space: 20, Sync: 20}}[w.rng.IntN(4)])
}
