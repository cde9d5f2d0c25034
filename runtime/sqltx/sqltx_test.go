package sqltx_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"path/filepath"
	"testing"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/sqltx"
	"github.com/ambit-tools/ambit/runtime/wire"
)

type payment struct{ To string }

func (v *payment) ReadMember(r *wire.Reader, _ string) { wire.ReadString(r, &v.To, &wire.StringRule{}) }

func (v *payment) Walk(w wire.Visitor) {
	w.Visit(wire.Token{Kind: wire.KindObject})
	w.Visit(wire.Token{Kind: wire.KindName, Str: "to"})
	w.Visit(wire.Token{Kind: wire.KindString, Str: v.To})
	w.Visit(wire.Token{Kind: wire.KindEnd})
}

// bank returns a database with an empty table, whose constraint is looked at
// when a transaction commits.
func bank(t *testing.T) *sql.DB {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "bank")+"?_pragma=foreign_keys(1)")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, db.Close()) })
	_, err = db.Exec(`CREATE TABLE account (name TEXT PRIMARY KEY);
		CREATE TABLE payment (id INTEGER PRIMARY KEY, payee TEXT REFERENCES account(name) DEFERRABLE INITIALLY DEFERRED);
		INSERT INTO account VALUES ('alice')`)
	require.NoError(t, err)
	return db
}

func execute(t *testing.T, p *sqltx.Participant, to string, after func() error) runtime.Outcome {
	return executeAs(t, p, runtime.SideEffectWrite, to, after)
}

func executeAs(t *testing.T, p *sqltx.Participant, effect runtime.SideEffect, to string, after func() error) runtime.Outcome {
	tool := runtime.NewTool(&runtime.Spec{Name: "pay", Version: "1.0.0", Effect: effect, SafeErrors: true},
		&wire.ObjectRule{Names: []string{"to"}, Required: 1},
		func(ctx context.Context, in *payment) (*payment, error) {
			tx, err := p.Tx(ctx)
			if err != nil {
				return nil, err
			}
			if _, err := tx.ExecContext(ctx, `INSERT INTO payment (payee) VALUES (?)`, in.To); err != nil {
				return nil, err
			}
			return in, after()
		})
	reg, err := runtime.NewRegistry(tool)
	require.NoError(t, err)
	exec, err := engine.NewExecutor(reg, runtime.PolicyFunc(func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	}), engine.WithJournal(new(journal.Memory)), engine.WithParticipant("bank", p))
	require.NoError(t, err)
	require.NoError(t, exec.Recover(t.Context()))
	run, err := exec.Session(engine.SessionConfig{}).StartRun(t.Context(), engine.RunConfig{})
	require.NoError(t, err)
	out := run.Turn(engine.TurnConfig{}).Execute(t.Context(), runtime.Call{Tool: "pay", Input: []byte(`{"to":"` + to + `"}`)})
	require.NoError(t, exec.Shutdown(t.Context()))
	return out
}

func payments(t *testing.T, db *sql.DB) (n int) {
	require.NoError(t, db.QueryRow(`SELECT count(*) FROM payment`).Scan(&n))
	return n
}

// SEMANTICS 6.8.2
func TestTransaction(t *testing.T) {
	ok := func() error { return nil }
	db := bank(t)
	p := sqltx.New(db, nil)
	assert.Equal(t, runtime.Completed, execute(t, p, "alice", ok).Kind)
	assert.Equal(t, 1, payments(t, db))

	out := execute(t, p, "alice", func() error { return errors.New("no") })
	assert.Equal(t, runtime.Failed, out.Kind)
	assert.True(t, out.RolledBack)
	assert.Equal(t, 1, payments(t, db))

	out = execute(t, p, "nobody", ok)
	assert.Equal(t, runtime.Failed, out.Kind)
	assert.Equal(t, runtime.ReasonCommitFailed, out.Reason, "the constraint is looked at by the commit")
	assert.True(t, out.RolledBack)
	assert.Equal(t, 1, payments(t, db))

	_, err := p.Tx(t.Context())
	assert.ErrorIs(t, err, runtime.ErrNoCall)
}

// TestReadToolHasNoTransaction asks for one in a call of a tool of effect read.
func TestReadToolHasNoTransaction(t *testing.T) {
	db := bank(t)
	out := executeAs(t, sqltx.New(db, nil), runtime.SideEffectRead, "alice", func() error { return nil })
	assert.Equal(t, runtime.Failed, out.Kind)
	assert.Contains(t, out.Message, `tool "pay" cannot write through participant "bank": the tool is declared effect: read`)
	assert.Zero(t, payments(t, db))
}

// lossy is a driver whose commits lose their connection.
type lossy struct{ driver.Conn }

func (lossy) Connect(context.Context) (driver.Conn, error) { return lossy{}, nil }
func (lossy) Driver() driver.Driver                        { return nil }
func (lossy) Begin() (driver.Tx, error)                    { return lossy{}, nil }
func (lossy) Commit() error                                { return driver.ErrBadConn }
func (lossy) Rollback() error                              { return nil }
func (lossy) Close() error                                 { return nil }
func (lossy) ExecContext(context.Context, string, []driver.NamedValue) (driver.Result, error) {
	return driver.RowsAffected(1), nil
}

// SEMANTICS 6.8.4
func TestConnectionIsLostDuringTheCommit(t *testing.T) {
	db := sql.OpenDB(lossy{})
	defer func() { assert.NoError(t, db.Close()) }()
	out := execute(t, sqltx.New(db, nil), "alice", func() error { return nil })
	assert.Equal(t, runtime.Unknown, out.Kind)
	assert.Equal(t, runtime.ReasonCommitFailed, out.Reason)
}
