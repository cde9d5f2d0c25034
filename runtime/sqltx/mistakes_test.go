package sqltx_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/sqltx"
	"github.com/ambit-tools/ambit/runtime/wire"
)

const insert = `INSERT INTO payment (payee) VALUES ('alice')`

// A receipt is an output that has a minimum.
type receipt struct{ Number int64 }

var (
	receiptRule   = wire.ObjectRule{Names: []string{"number"}, Required: 1}
	receiptNumber = wire.IntRule{Has: wire.Min, Min: 1}
)

func (v *receipt) Walk(w wire.Visitor) {
	wire.BeginObject(w, &receiptRule)
	wire.Member(w, "number", &v.Number, wire.WalkInt, &receiptNumber)
	wire.End(w)
}

// TestMistakesOfHandlers: what a handler writes through its participant stands with the outcome alone, whatever else the
// handler does wrong. What it writes beside the participant stands whatever the outcome is.
//
// SEMANTICS 2.1.6, 2.4.3, 6.8.6
func TestMistakesOfHandlers(t *testing.T) {
	broken := errors.New("broken")
	written := func(ctx context.Context, p *sqltx.Participant) {
		tx, err := p.Tx(ctx)
		require.NoError(t, err)
		_, err = tx.ExecContext(ctx, insert)
		require.NoError(t, err)
	}
	for name, c := range map[string]struct {
		run        func(context.Context, *sqltx.Participant, *sql.DB) (*receipt, error)
		reason     runtime.Reason // ReasonNone: the call completes
		rolledBack bool
		rows       int
		fault      string // a part of what operators are told
	}{
		"no output and no error": {
			run: func(ctx context.Context, p *sqltx.Participant, _ *sql.DB) (*receipt, error) {
				written(ctx, p)
				return nil, nil
			},
			reason: runtime.ReasonInvalidOutput, rolledBack: true, fault: "neither",
		},
		"an output with a member left out": {
			run: func(ctx context.Context, p *sqltx.Participant, _ *sql.DB) (*receipt, error) {
				written(ctx, p)
				return &receipt{}, nil
			},
			reason: runtime.ReasonInvalidOutput, rolledBack: true, fault: "/number: minimum",
		},
		"an output and an error": {
			run: func(ctx context.Context, p *sqltx.Participant, _ *sql.DB) (*receipt, error) {
				written(ctx, p)
				return &receipt{7}, broken
			},
			reason: runtime.ReasonHandlerError, rolledBack: true, fault: "broken",
		},
		"a panic": {
			run: func(ctx context.Context, p *sqltx.Participant, _ *sql.DB) (*receipt, error) {
				written(ctx, p)
				panic("a nil map")
			},
			reason: runtime.ReasonPanic, rolledBack: true, fault: "a nil map",
		},
		"another context": {
			run: func(_ context.Context, p *sqltx.Participant, _ *sql.DB) (*receipt, error) {
				_, err := p.Tx(context.Background())
				return nil, err
			},
			reason: runtime.ReasonHandlerError, fault: "pass on the one that the handler got",
		},
		"a write beside the participant, and an error": {
			run: func(ctx context.Context, _ *sqltx.Participant, db *sql.DB) (*receipt, error) {
				_, err := db.ExecContext(ctx, insert)
				return nil, errors.Join(err, broken)
			},
			reason: runtime.ReasonHandlerError, rows: 1, fault: "broken",
		},
		"a write beside the transaction that has the lock": {
			run: func(ctx context.Context, p *sqltx.Participant, db *sql.DB) (*receipt, error) {
				written(ctx, p)
				_, err := db.ExecContext(ctx, insert)
				return &receipt{1}, err
			},
			reason: runtime.ReasonHandlerError, rolledBack: true, fault: "database is locked",
		},
		"a transaction of its own": {
			run: func(ctx context.Context, _ *sqltx.Participant, db *sql.DB) (*receipt, error) {
				tx, err := db.BeginTx(ctx, nil)
				require.NoError(t, err)
				_, err = tx.ExecContext(ctx, insert)
				return &receipt{1}, errors.Join(err, tx.Commit())
			},
			rows: 1, fault: "completed without touching a participant",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				db := bank(t)
				out, told := mistaken(t, db, c.run, func() {})
				assert.Equal(t, c.reason, out.Reason, out.Message)
				assert.Equal(t, c.reason == runtime.ReasonNone, out.Kind == runtime.Completed, out.Kind)
				assert.Equal(t, c.rolledBack, out.RolledBack)
				assert.Equal(t, c.rows, payments(t, db))
				require.Len(t, told, 1)
				assert.ErrorContains(t, told[0], c.fault)
				assert.NotContains(t, out.Message, c.fault, "the model is not told")
			})
		})
	}
}

// TestHandlerThatIgnoresItsContext writes after its deadline: what it writes in its transaction goes nowhere, what it writes
// beside that stands.
//
// SEMANTICS 2.1.6
func TestHandlerThatIgnoresItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := bank(t)
		over := make(chan struct{})
		late := make(chan error, 2)
		out, _ := mistaken(t, db, func(ctx context.Context, p *sqltx.Participant, db *sql.DB) (*receipt, error) {
			tx, err := p.Tx(ctx)
			require.NoError(t, err)
			_, err = tx.ExecContext(ctx, insert)
			require.NoError(t, err)
			<-over
			_, err = tx.Exec(insert)
			late <- err
			_, err = db.Exec(insert)
			late <- err
			return &receipt{1}, nil
		}, func() {
			close(over)
			assert.ErrorIs(t, <-late, sql.ErrTxDone)
			assert.NoError(t, <-late)
		})
		assert.Equal(t, runtime.TimedOut, out.Kind)
		assert.True(t, out.RolledBack)
		assert.Contains(t, out.Message, "what it did was taken back")
		assert.Equal(t, 1, payments(t, db))
	})
}

// mistaken makes one call of a tool that declares transactional: true, has a second and runs as run says. It calls after
// with the outcome there, and returns what operators were told.
func mistaken(t *testing.T, db *sql.DB, run func(context.Context, *sqltx.Participant, *sql.DB) (*receipt, error), after func()) (out runtime.Outcome, told []*action.CallError) {
	p := sqltx.New(db, nil)
	tool := runtime.NewTool(&runtime.Spec{Name: "pay", Version: "1.0.0", Effect: runtime.SideEffectWrite, Transactional: true, Deadline: time.Second},
		&wire.ObjectRule{Names: []string{"to"}}, func(ctx context.Context, _ *payment) (*receipt, error) { return run(ctx, p, db) })
	reg, err := runtime.NewRegistry(tool)
	require.NoError(t, err)
	allow := runtime.PolicyFunc(func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	})
	exec, err := engine.NewExecutor(reg, allow, engine.WithJournal(new(journal.Memory)), engine.WithParticipant("bank", p),
		engine.WithErrorHandler(func(e *action.CallError) { told = append(told, e) }))
	require.NoError(t, err)
	require.NoError(t, exec.Recover(t.Context()))
	r, err := exec.Session(engine.SessionConfig{}).StartRun(t.Context(), engine.RunConfig{})
	require.NoError(t, err)
	out = r.Turn(engine.TurnConfig{}).Execute(t.Context(), runtime.Call{Tool: "pay", Input: []byte(`{}`)})
	after()
	require.NoError(t, exec.Shutdown(t.Context()), "which tells what was not told yet")
	return out, told
}
