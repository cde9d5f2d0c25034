package audit_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/store/audit"
)

// A keyed store has a head and two errors.
type keyed struct {
	store, sessions error
}

func (k keyed) Authenticate(context.Context) (uint64, error) { return 7, k.store }
func (k keyed) VerifySessions(context.Context) error         { return k.sessions }
func (k keyed) Head(context.Context) (uint64, error)         { return 5, nil }

type (
	olderCopy  struct{ error }
	wrongIndex uint64
)

func (olderCopy) RolledBack() {}

func (w wrongIndex) Error() string     { return "it does not fit" }
func (w wrongIndex) IndexedAt() uint64 { return uint64(w) }

// TestErrorsOfKeysAreFaults: what is wrong with the store is a fault of the report, and anything else an error.
func TestErrorsOfKeysAreFaults(t *testing.T) {
	other := errors.New("the disk is gone")
	for _, c := range []struct {
		store, sessions error
		bad             *audit.Fault
		authentic       uint64
		err             error
	}{
		{nil, nil, nil, 7, nil},
		{damage(3), nil, &audit.Fault{Class: audit.ClassUnreadable, First: 3, Last: 3}, 2, nil},
		{damage(0), nil, nil, 0, damage(0)},
		{forgery(4), other, &audit.Fault{Class: audit.ClassForged, First: 4, Last: 4}, 3, nil},
		{nil, forgery(6), &audit.Fault{Class: audit.ClassForged, First: 6, Last: 6}, 5, nil},
		{nil, forgery(0), &audit.Fault{Class: audit.ClassSession, First: 1, Last: 7}, 7, nil},
		{nil, wrongIndex(2), &audit.Fault{Class: audit.ClassIndex, First: 2, Last: 2}, 7, nil},
		{olderCopy{other}, nil, &audit.Fault{Class: audit.ClassCut, First: 6, Last: 6}, 5, nil},
		{other, nil, nil, 0, other},
		{nil, other, nil, 0, other},
	} {
		wrap := func(err error) error {
			if err != nil {
				err = fmt.Errorf("open: %w", err)
			}
			return err
		}
		var r audit.Report
		err := r.Authenticate(t.Context(), keyed{wrap(c.store), wrap(c.sessions)})
		require.ErrorIs(t, err, c.err)
		require.Equal(t, c.authentic, r.Authentic)
		if c.bad == nil {
			require.Nil(t, r.Bad)
			continue
		}
		require.NotNil(t, r.Bad)
		c.bad.What = wrap(cmp.Or(c.store, c.sessions)).Error()
		require.Equal(t, c.bad, r.Bad)
		require.Equal(t, audit.VerdictBad, r.Verdict)
	}
}
