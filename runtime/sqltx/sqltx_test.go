package sqltx_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"path/filepath"
	"reflect"
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
	return executeAs(t, p, runtime.SideEffectWrite, to, func(*sqltx.Tx) error { return after() })
}

func executeAs(t *testing.T, p *sqltx.Participant, effect runtime.SideEffect, to string, after func(*sqltx.Tx) error) runtime.Outcome {
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
			return in, after(tx)
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
	out := executeAs(t, sqltx.New(db, nil), runtime.SideEffectRead, "alice", func(*sqltx.Tx) error { return nil })
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

// TestTransactionThatTheHandlerEnds: as users of database/sql write it, with the *sql.Tx that libraries want. The
// executor cannot know what stands.
//
// SEMANTICS 2.1.6, 6.8.5
func TestTransactionThatTheHandlerEnds(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		end    func(*sql.Tx) error
		kind   runtime.OutcomeKind
		reason runtime.Reason
		rows   int
	}{
		"commits":               {(*sql.Tx).Commit, runtime.Unknown, runtime.ReasonCommitFailed, 1},
		"rolls back":            {(*sql.Tx).Rollback, runtime.Unknown, runtime.ReasonCommitFailed, 0},
		"commits and fails":     {func(tx *sql.Tx) error { return errors.Join(tx.Commit(), broken) }, runtime.Failed, runtime.ReasonHandlerError, 1},
		"rolls back and fails":  {func(tx *sql.Tx) error { return errors.Join(tx.Rollback(), broken) }, runtime.Failed, runtime.ReasonHandlerError, 0},
		"commits, then commits": {func(tx *sql.Tx) error { return errors.Join(tx.Commit(), tx.Commit()) }, runtime.Failed, runtime.ReasonHandlerError, 1},
	} {
		t.Run(name, func(t *testing.T) {
			db := bank(t)
			out := executeAs(t, sqltx.New(db, nil), runtime.SideEffectWrite, "alice", func(tx *sqltx.Tx) error { return c.end(tx.SQLTx()) })
			assert.Equal(t, c.kind, out.Kind)
			assert.Equal(t, c.reason, out.Reason)
			assert.False(t, out.RolledBack)
			assert.Equal(t, c.rows, payments(t, db))
		})
	}
}

// TestMethodsOfATransaction: a Tx has all methods of an *sql.Tx but those that end it.
//
// SEMANTICS 6.8.5
func TestMethodsOfATransaction(t *testing.T) {
	tx, raw := reflect.TypeFor[*sqltx.Tx](), reflect.TypeFor[*sql.Tx]()
	for m := range raw.Methods() {
		own, has := tx.MethodByName(m.Name)
		if m.Name == "Commit" || m.Name == "Rollback" {
			assert.False(t, has, m.Name)
			continue
		}
		require.True(t, has, m.Name)
		var want, got []reflect.Type
		for i := 1; i < m.Type.NumIn(); i++ {
			want, got = append(want, m.Type.In(i)), append(got, own.Type.In(i))
		}
		for i := range m.Type.NumOut() {
			want, got = append(want, m.Type.Out(i)), append(got, own.Type.Out(i))
		}
		assert.Equal(t, want, got, m.Name)
		assert.Equal(t, m.Type.IsVariadic(), own.Type.IsVariadic(), m.Name)
	}
}

// TestStatements sends statements by each method.
func TestStatements(t *testing.T) {
	db := bank(t)
	ctx := t.Context()
	stored, err := db.PrepareContext(ctx, `INSERT INTO payment (payee) VALUES (?)`)
	require.NoError(t, err)
	defer func() { assert.NoError(t, stored.Close()) }()
	out := executeAs(t, sqltx.New(db, nil), runtime.SideEffectWrite, "alice", func(tx *sqltx.Tx) error {
		insert := `INSERT INTO payment (payee) VALUES ('alice')`
		_, err1 := tx.Exec(insert)
		own, err2 := tx.Prepare(insert)
		_, err3 := own.Exec()
		again, err4 := tx.PrepareContext(ctx, insert)
		_, err5 := again.Exec()
		_, err6 := tx.Stmt(stored).Exec("alice")
		_, err7 := tx.StmtContext(ctx, stored).Exec("alice")
		var n, m int
		err8, err9 := tx.QueryRow(`SELECT count(*) FROM payment`).Scan(&n), tx.QueryRowContext(ctx, `SELECT count(*) FROM payment`).Scan(&m)
		assert.Equal(t, []int{6, 6}, []int{n, m})
		count := func(rows *sql.Rows, err error) error {
			n := 0
			for err == nil && rows.Next() {
				n++
			}
			assert.Equal(t, 6, n)
			return errors.Join(err, rows.Close(), rows.Err())
		}
		return errors.Join(err1, err2, err3, err4, err5, err6, err7, err8, err9, count(tx.Query(`SELECT id FROM payment`)), count(tx.QueryContext(ctx, `SELECT id FROM payment`)))
	})
	assert.Equal(t, runtime.Completed, out.Kind, out.Message)
	assert.Equal(t, 6, payments(t, db))
}

// A dbtx is what sqlc generates.
type dbtx interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
	PrepareContext(context.Context, string) (*sql.Stmt, error)
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
	QueryRowContext(context.Context, string, ...any) *sql.Row
}

var _ dbtx = (*sqltx.Tx)(nil)
