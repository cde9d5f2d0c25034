package sqltx_test

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"os"
	"path/filepath"

	_ "modernc.org/sqlite"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/host"
	"github.com/ambit-tools/ambit/runtime/sqltx"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// openShop opens the application's own database. Any driver of database/sql will do.
func openShop(dir string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", filepath.Join(dir, "shop.db"))
	if err != nil {
		return nil, err
	}
	_, err = db.Exec(`CREATE TABLE stock (item TEXT PRIMARY KEY, pieces INTEGER CHECK (pieces >= 0));
		CREATE TABLE parcel (item TEXT);
		INSERT INTO stock VALUES ('lamp', 1)`)
	return db, err
}

// A warehouse carries out a tool that changes two tables of the database.
type warehouse struct{ shop *sqltx.Participant }

func (w *warehouse) parcelSend(ctx context.Context, _ wire.Value) (wire.Value, error) {
	tx, err := w.shop.Tx(ctx) // of the call: the executor commits it or rolls it back
	if err != nil {
		return nil, err
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO parcel VALUES ('lamp')`); err != nil {
		return nil, err
	}
	_, err = tx.ExecContext(ctx, `UPDATE stock SET pieces = pieces - 1 WHERE item = 'lamp'`)
	return wire.Raw(`{}`), err
}

// anyInput stands for the decoder that ambit generate writes.
type anyInput struct{}

func (anyInput) Decode(b []byte, l wire.Limits) (wire.Value, []wire.Violation) {
	return wire.ParseRaw(b, l)
}

func allow(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
	return runtime.Decision{Effect: runtime.EffectAllow}, nil
}

// Tools change the application's own database, each call in one transaction: the second
// call fails, because no lamp is left, and no parcel of it stays.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "ambit")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()

	db, err := openShop(dir)
	if err != nil {
		log.Fatal(err)
	}
	shop := sqltx.New(db, nil)
	handler := &warehouse{shop}
	spec := &runtime.Spec{Name: "parcel_send", Version: "1.0.0", Effect: runtime.SideEffectWrite}
	h, err := host.Open(ctx, host.Config{
		Tools:   []*runtime.Tool{runtime.NewDynamicTool(spec, anyInput{}, handler.parcelSend)},
		Policy:  runtime.PolicyFunc(allow),
		Dir:     filepath.Join(dir, "var"),
		Report:  func(error) {}, // a program writes them where operators look
		Options: []engine.Option{engine.WithParticipant("shop", shop)},
	})
	if err != nil {
		log.Fatal(err)
	}
	run, err := h.Executor.Session(engine.SessionConfig{Principal: "agent"}).StartRun(ctx, engine.RunConfig{})
	if err != nil {
		log.Fatal(err)
	}
	turn := run.Turn(engine.TurnConfig{})
	for range 2 {
		out := turn.Execute(ctx, runtime.Call{Tool: "parcel_send", Input: []byte(`{"item": "lamp"}`)})
		fmt.Println(out.Kind, "rolled back:", out.RolledBack)
	}
	var parcels int
	if err := db.QueryRow(`SELECT count(*) FROM parcel`).Scan(&parcels); err != nil {
		log.Fatal(err)
	}
	fmt.Println("parcels:", parcels)
	fmt.Println(h.Close(ctx), db.Close()) // the host first: it rolls back what still runs
	// Output:
	// completed rolled back: false
	// failed rolled back: true
	// parcels: 1
	// <nil> <nil>
}
