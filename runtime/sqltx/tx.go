package sqltx

import (
	"context"
	"database/sql"
)

// A Tx is the transaction of a call. It has the methods of [sql.Tx] but those that end it, which the executor
// does: a handler that committed could not be taken back. It fits where a library wants an interface, such as
// the DBTX of sqlc.
//
// Statements such as COMMIT or ROLLBACK, sent as SQL, end a transaction behind its back. A Tx does not look
// for them: do not send them.
type Tx struct{ tx *sql.Tx }

// SQLTx returns the transaction as a *sql.Tx, for libraries that want one. Neither Commit nor Rollback may be
// called on it. The call of a handler that does so nevertheless is unknown (commit_failed) where it would have
// been completed, and is never reported as rolled back.
func (t *Tx) SQLTx() *sql.Tx { return t.tx }

// Exec is [Tx.ExecContext] without a context: the statement does not end with the attempt.
func (t *Tx) Exec(query string, args ...any) (sql.Result, error) { return t.tx.Exec(query, args...) }

// ExecContext executes a statement that returns no rows. See [sql.Tx.ExecContext].
func (t *Tx) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return t.tx.ExecContext(ctx, query, args...)
}

// Prepare is [Tx.PrepareContext] without a context.
func (t *Tx) Prepare(query string) (*sql.Stmt, error) { return t.tx.Prepare(query) }

// PrepareContext prepares a statement for this transaction. See [sql.Tx.PrepareContext].
func (t *Tx) PrepareContext(ctx context.Context, query string) (*sql.Stmt, error) {
	return t.tx.PrepareContext(ctx, query)
}

// Query is [Tx.QueryContext] without a context: the query does not end with the attempt.
func (t *Tx) Query(query string, args ...any) (*sql.Rows, error) { return t.tx.Query(query, args...) }

// QueryContext executes a query that returns rows. See [sql.Tx.QueryContext].
func (t *Tx) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return t.tx.QueryContext(ctx, query, args...)
}

// QueryRow is [Tx.QueryRowContext] without a context: the query does not end with the attempt.
func (t *Tx) QueryRow(query string, args ...any) *sql.Row { return t.tx.QueryRow(query, args...) }

// QueryRowContext executes a query that returns at most one row. See [sql.Tx.QueryRowContext].
func (t *Tx) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	return t.tx.QueryRowContext(ctx, query, args...)
}

// Stmt is [Tx.StmtContext] without a context.
func (t *Tx) Stmt(stmt *sql.Stmt) *sql.Stmt { return t.tx.Stmt(stmt) }

// StmtContext returns a prepared statement for this transaction. See [sql.Tx.StmtContext].
func (t *Tx) StmtContext(ctx context.Context, stmt *sql.Stmt) *sql.Stmt {
	return t.tx.StmtContext(ctx, stmt)
}
