package sqltx

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/ambit-tools/ambit/runtime"
)

// A Participant is a database that takes part in calls. It is safe for
// concurrent use.
type Participant struct {
	db   *sql.DB
	opts *sql.TxOptions
}

// New returns a participant for engine.WithParticipant. Nil options are the
// defaults of the driver. It does not close the database.
func New(db *sql.DB, opts *sql.TxOptions) *Participant { return &Participant{db: db, opts: opts} }

// Tx returns the transaction of the call that ctx was made for, which begins with
// the first use. The executor ends it. Its statements end with the attempt: they are
// given ctx.
//
// A tool of effect read gets none, since nothing keeps its statements from writing:
// the error is runtime.ErrReadOnly. Its handler reads through the sql.DB.
func (p *Participant) Tx(ctx context.Context) (*Tx, error) {
	part, err := runtime.WritePartOf(ctx, p)
	if err != nil {
		return nil, err
	}
	return &Tx{part.(*transaction).tx}, nil
}

// Begin begins the transaction of a call.
func (p *Participant) Begin(ctx context.Context, _ runtime.CallKey) (runtime.Part, error) {
	// Not by ctx itself: database/sql would roll back when it ends, under a commit too.
	tx, err := p.db.BeginTx(context.WithoutCancel(ctx), p.opts)
	if err != nil {
		return nil, err
	}
	return &transaction{tx: tx}, nil
}

// Unsettled returns nothing: a database rolls back what a process that died has
// left open.
func (p *Participant) Unsettled(context.Context) ([]runtime.CallKey, error) { return nil, nil }

// Settle does nothing: see Unsettled.
func (p *Participant) Settle(context.Context, runtime.CallKey, bool) error { return nil }

// A transaction is the part of one attempt.
type transaction struct {
	tx        *sql.Tx
	committed atomic.Bool // Commit was called, which ends the transaction also where it fails
}

// Foreign says that the database commits on its own.
func (t *transaction) Foreign() {}

// Seal has nothing to do: what was written is in the database's own log.
func (t *transaction) Seal(context.Context) ([]byte, error) { return nil, nil }

var errEnded = errors.New("the transaction of the call was ended by the handler or its libraries, and the executor cannot know how: they leave it to the executor (sqltx.Tx.SQLTx)")

// Commit commits. An error of the connection says nothing of what the database
// has done, and a transaction that is over already was committed or rolled back by others.
func (t *transaction) Commit(context.Context) error {
	t.committed.Store(true)
	err := t.tx.Commit()
	var lost interface{ Timeout() bool } // errors of the network
	switch {
	case errors.Is(err, sql.ErrTxDone):
		return fmt.Errorf("%w: %w: %w", runtime.ErrMaybeCommitted, errEnded, err)
	case errors.Is(err, driver.ErrBadConn), errors.As(err, &lost), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: %w", runtime.ErrMaybeCommitted, err)
	}
	return err
}

// Rollback rolls back, unless a commit that failed has done so. A transaction that others have ended is
// an error: what it wrote may stand.
func (t *transaction) Rollback(context.Context) error {
	err := t.tx.Rollback()
	switch {
	case !errors.Is(err, sql.ErrTxDone):
		return err
	case t.committed.Load():
		return nil
	}
	return fmt.Errorf("%w: %w", errEnded, err)
}
