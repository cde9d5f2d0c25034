package runtimetest_test

import (
	"context"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/runtimetest"
)

// unfenced is a journal whose successor does not wait for effects: it only takes its time.
type unfenced struct {
	*journal.Memory
	epoch  uint64
	stored *atomic.Uint64
}

func (u *unfenced) Epoch() uint64 { return u.epoch }

func (u *unfenced) Renew(context.Context) error {
	if u.stored.Load() != u.epoch {
		return journal.ErrLost
	}
	return nil
}

func (u *unfenced) Claim(context.Context) (func(), error) { return func() {}, nil }

func (u *unfenced) Fence(ctx context.Context, effect func()) error {
	if err := u.Renew(ctx); err != nil {
		return err
	}
	effect()
	return nil
}

// TestUnfencedJournalFails: the suite fails a journal without a fence whose takeover takes longer than an append.
func TestUnfencedJournalFails(t *testing.T) {
	const variable = "AMBIT_UNFENCED"
	if os.Getenv(variable) != "" {
		runtimetest.TestFencer(t, func(*testing.T) (journal.Journal, func() journal.Journal) {
			u := &unfenced{new(journal.Memory), 1, new(atomic.Uint64)}
			u.stored.Store(1)
			return u, func() journal.Journal {
				time.Sleep(20 * time.Millisecond)
				u.stored.Store(2)
				return &unfenced{u.Memory, 2, u.stored}
			}
		})
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^TestUnfencedJournalFails$")
	cmd.Env = append(os.Environ(), variable+"=1")
	out, err := cmd.CombinedOutput()
	require.Error(t, err, "%s", out)
	require.Contains(t, string(out), "a successor has taken the journal over while an effect of the former owner was under way")
}
