package host_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/host"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// A deafJournal answers no Append once it is stuck.
type deafJournal struct {
	journal.Memory
	stuck   chan struct{}
	release chan struct{}
}

func (j *deafJournal) Append(ctx context.Context, entries []journal.Entry) error {
	select {
	case <-j.stuck:
		<-j.release
		return errors.New("too late")
	default:
	}
	return j.Memory.Append(ctx, entries)
}

// A sink that calls a function for each event.
type sinkFunc func()

func (f sinkFunc) Emit(*runtime.Event) error {
	f()
	return nil
}

// TestRunReturnsWhateverHangs: at most ten seconds after the time of grace.
//
// SEMANTICS 6.9.7
func TestRunReturnsWhateverHangs(t *testing.T) {
	signal.Notify(make(chan os.Signal, 1), os.Interrupt) // its goroutine is none of the bubble
	for name, c := range map[string]struct {
		handler, sink, journal, closer bool
		took                           time.Duration
	}{
		"nothing":            {},
		"a handler":          {handler: true, took: 20*time.Second + 5*time.Second},
		"a sink":             {sink: true, took: 5 * time.Second},
		"the journal":        {journal: true, took: 20*time.Second + 7*time.Second},
		"a part of the host": {closer: true, took: 20*time.Second + 350*time.Millisecond},
		"all of them":        {handler: true, sink: true, journal: true, closer: true, took: 20*time.Second + 7*time.Second + 350*time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release, stuck := make(chan struct{}), make(chan struct{})
				begun := make(chan struct{}, 1)
				j := &deafJournal{stuck: stuck, release: release}
				h, err := host.Open(t.Context(), host.Config{
					Tools: noteTools(func(context.Context) error {
						begun <- struct{}{}
						if c.handler {
							<-release
						}
						return nil
					}),
					Policy: runtime.PolicyFunc(func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
						return runtime.Decision{Effect: runtime.EffectAllow}, nil
					}),
					Dir: t.TempDir(), Journal: j,
					Report: func(error) {},
					Options: []engine.Option{engine.WithSink(sinkFunc(func() {
						if c.sink {
							<-release
						}
					}))},
				})
				require.NoError(t, err)
				if c.closer {
					h.Closing("a part", func(context.Context) error { <-release; return nil })
				}
				go execute(t, h, "c1", "Shopping")
				<-begun
				synctest.Wait()
				if c.journal {
					close(stuck)
					go execute(t, h, "c2", "Shopping")
					synctest.Wait()
				}
				ctx, stop := context.WithCancel(t.Context())
				stop()
				at := time.Now()
				err = h.Run(ctx)
				assert.Equal(t, c.took, time.Since(at))
				assert.Equal(t, c.took == 0, err == nil, err)
				close(release)
				synctest.Wait()
			})
		})
	}
}

// TestRunEndsWhenTheStoreIsLost: nothing can be recorded any more, so that the process has to start again.
//
// SEMANTICS 6.9.8
func TestRunEndsWhenTheStoreIsLost(t *testing.T) {
	dir := t.TempDir()
	h, err := host.Open(t.Context(), host.Config{Tools: noteTools(nil), Policies: policies(), Dir: dir, Report: func(error) {}})
	require.NoError(t, err)
	db, err := sql.Open("sqlite", filepath.Join(dir, "ambit.db"))
	require.NoError(t, err)
	_, err = db.Exec("UPDATE owner SET epoch = epoch + 1")
	require.NoError(t, errors.Join(err, db.Close()))
	ended := make(chan error, 1)
	go func() { ended <- h.Run(context.Background()) }()
	assert.Equal(t, runtime.ReasonJournalUnavailable, execute(t, h, "c1", "Shopping").Reason)
	require.ErrorContains(t, <-ended, "owner 2 has taken over from owner 1")
}

// TestTheAuditLogHasATimeOfItsOwn: the last checkpoint is stored and anchored when the time of grace is over,
// also by an anchor that takes a moment.
//
// SEMANTICS 6.9.7
func TestTheAuditLogHasATimeOfItsOwn(t *testing.T) {
	dir := t.TempDir()
	anchored := make(chan []byte, 9)
	h, err := host.Open(t.Context(), host.Config{Tools: noteTools(nil), Policies: policies(), Dir: dir, Anchor: anchorFunc(func(ctx context.Context, note []byte) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		anchored <- note
		return nil
	})})
	require.NoError(t, err)
	require.Equal(t, runtime.Completed, execute(t, h, "c1", "Shopping").Kind)
	over, end := context.WithCancel(t.Context())
	end()
	require.NoError(t, h.Close(over))
	assert.NotEmpty(t, anchored)
}

type anchorFunc func(ctx context.Context, note []byte) error

func (f anchorFunc) Anchor(ctx context.Context, note []byte) error { return f(ctx, note) }
