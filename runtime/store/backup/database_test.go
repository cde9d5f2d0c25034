package backup_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/host"
	"github.com/ambit-tools/ambit/runtime/sqltx"
	"github.com/ambit-tools/ambit/runtime/store/audit"
	"github.com/ambit-tools/ambit/runtime/store/backup"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// anyInput takes any input.
type anyInput struct{}

func (anyInput) Decode(b []byte, l wire.Limits) (wire.Value, []wire.Violation) {
	return wire.ParseRaw(b, l)
}

// An office is an application with a database of its own, in the transactions of its calls.
type office struct {
	t    *testing.T
	host *host.Host
	db   *sql.DB
}

// openOffice starts the application in a folder. Each payment has the key of its call, once.
func openOffice(t *testing.T, dir string) *office {
	db, err := sql.Open("sqlite", filepath.Join(dir, "office.db"))
	require.NoError(t, err)
	_, err = db.Exec(`CREATE TABLE IF NOT EXISTS payment (call TEXT PRIMARY KEY)`)
	require.NoError(t, err)
	orders := sqltx.New(db, nil)
	pay := func(ctx context.Context, _ wire.Value) (wire.Value, error) {
		info, _ := runtime.FromContext(ctx)
		tx, err := orders.Tx(ctx)
		if err != nil {
			return nil, err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO payment VALUES (?) ON CONFLICT DO NOTHING`, info.Key())
		return wire.Raw(`{}`), err
	}
	h, err := host.Open(t.Context(), host.Config{
		Tools: []*runtime.Tool{runtime.NewDynamicTool(&runtime.Spec{Name: "pay", Version: "1.0.0", Effect: runtime.SideEffectWrite, Transactional: true}, anyInput{}, pay)},
		Policy: runtime.PolicyFunc(func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
			return runtime.Decision{Effect: runtime.EffectAllow}, nil
		}),
		Dir: filepath.Join(dir, "var"), Report: func(error) {}, Options: []engine.Option{engine.WithParticipant("office", orders)},
	})
	require.NoError(t, err)
	return &office{t, h, db}
}

func (o *office) pay(call string) runtime.Outcome {
	run, err := o.host.Executor.Session(engine.SessionConfig{ID: "s", Principal: "agent"}).StartRun(o.t.Context(), engine.RunConfig{})
	require.NoError(o.t, err)
	return run.Turn(engine.TurnConfig{}).Execute(o.t.Context(), runtime.Call{ID: call, Tool: "pay", Input: []byte(`{}`)})
}

func (o *office) payments() (n int) {
	require.NoError(o.t, o.db.QueryRow(`SELECT count(*) FROM payment`).Scan(&n))
	return n
}

func (o *office) close() {
	require.NoError(o.t, o.host.Close(context.Background()))
	require.NoError(o.t, o.db.Close())
}

// TestDrillWithTheDatabaseOfTheApplication is the drill of docs/backup.md: the store is backed up first, then the
// database, while the application runs. After both are restored every call that the journal calls completed has its row,
// and a call that the journal has lost finds its row by its key.
func TestDrillWithTheDatabaseOfTheApplication(t *testing.T) {
	dir, kept := t.TempDir(), t.TempDir()
	o := openOffice(t, dir)
	require.Equal(t, runtime.Completed, o.pay("before").Kind)
	_, err := backup.Write(t.Context(), filepath.Join(kept, "store.backup"), backup.Source{Store: filepath.Join(dir, "var", "ambit.db")})
	require.NoError(t, err)
	require.Equal(t, runtime.Completed, o.pay("between").Kind)
	_, err = o.db.Exec("VACUUM INTO ?", filepath.Join(kept, "office.db"))
	require.NoError(t, err)
	require.Equal(t, runtime.Completed, o.pay("after").Kind)
	key, err := os.ReadFile(filepath.Join(dir, "var", "ambit.db.audit"))
	require.NoError(t, err)
	o.close()

	dir = t.TempDir() // all of the first one is lost, but for the key that was kept elsewhere
	require.NoError(t, os.Rename(filepath.Join(kept, "office.db"), filepath.Join(dir, "office.db")))
	store := filepath.Join(dir, "var", "ambit.db")
	require.NoError(t, os.Mkdir(filepath.Dir(store), 0o700))
	require.NoError(t, os.WriteFile(store+".audit", key, 0o600))
	signer, err := audit.ReadSigner(store + ".audit")
	require.NoError(t, err)
	_, err = backup.Restore(t.Context(), filepath.Join(kept, "store.backup"), store, backup.Target{Restoration: sqlite.Restoration{By: "me", Reason: "drill"}, Signer: signer})
	require.NoError(t, err)

	o = openOffice(t, dir)
	defer o.close()
	assert.Equal(t, 2, o.payments())
	require.Equal(t, runtime.Completed, o.pay("before").Kind)
	assert.Equal(t, 2, o.payments(), "the journal knows its outcome")
	require.Equal(t, runtime.Completed, o.pay("between").Kind)
	assert.Equal(t, 2, o.payments(), "the journal has lost it, and the row is there by its key")
	require.Equal(t, runtime.Completed, o.pay("after").Kind)
	assert.Equal(t, 3, o.payments(), "both have lost it")
}
