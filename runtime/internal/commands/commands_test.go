package commands_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime/internal/commands"
	"github.com/ambit-tools/ambit/runtime/internal/commitlog"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/journal"
)

func TestMain(m *testing.M) { battery.Main(m) }

// opened returns a Once with a journal in memory, and the kinds of the entries that are durable.
func opened(fails *error) (o *commands.Once, kinds *[]string) {
	var s sched.Scheduler
	o, kinds = new(commands.Once), new([]string)
	log := commitlog.New(commitlog.Config{Sched: &s, Written: func(error) {}, Append: func(entries []journal.Entry) error {
		if *fails != nil {
			return *fails
		}
		for _, e := range entries {
			r, err := journal.Decode(e.Leaf)
			if err != nil {
				return err
			}
			*kinds = append(*kinds, r.Kind)
		}
		return nil
	}})
	log.Begin(0)
	o.Open(&s, log)
	return o, kinds
}

// TestOnce: a command is executed once, between the entries of its import and of its result.
func TestOnce(t *testing.T) {
	var fails error
	o, kinds := opened(&fails)
	runs := 0
	do := func(context.Context) journal.CommandResult {
		runs++
		assert.Equal(t, []string{journal.KindCommandImported}, *kinds, "it is durable")
		return journal.CommandResult{Result: "ok"}
	}
	c := &journal.Command{Nonce: "n", Kind: "approve"}
	res, err := o.Do(t.Context(), c, "ann", "interrupted", do)
	require.NoError(t, err)
	assert.Equal(t, "ok", res.Result)
	assert.Equal(t, []string{journal.KindCommandImported, journal.KindCommandDone}, *kinds)
	_, err = o.Do(t.Context(), c, "ann", "interrupted", do)
	require.ErrorIs(t, err, commands.ErrKnown)
	assert.Equal(t, 1, runs)
	assert.Len(t, *kinds, 2)
}

// TestInterrupted: a command that a crash interrupted is not executed again, and gets its result once.
func TestInterrupted(t *testing.T) {
	var fails error
	o, kinds := opened(&fails)
	o.Restore(map[string]bool{"crashed": true, "done": false})
	never := func(context.Context) journal.CommandResult { t.Error("executed"); return journal.CommandResult{} }
	res, err := o.Do(t.Context(), &journal.Command{Nonce: "crashed"}, "ann", "interrupted", never)
	require.ErrorIs(t, err, commands.ErrKnown)
	assert.Equal(t, "interrupted", res.Result)
	assert.Equal(t, []string{journal.KindCommandDone}, *kinds)
	for _, nonce := range []string{"crashed", "done"} {
		res, err = o.Do(t.Context(), &journal.Command{Nonce: nonce}, "ann", "interrupted", never)
		require.ErrorIs(t, err, commands.ErrKnown)
		assert.Empty(t, res.Result)
	}
	assert.Len(t, *kinds, 1)
}

// TestUnrecorded: what cannot be recorded is not executed.
func TestUnrecorded(t *testing.T) {
	fails := errors.New("the disk is broken")
	o, _ := opened(&fails)
	_, err := o.Do(t.Context(), &journal.Command{Nonce: "n"}, "ann", "interrupted", func(context.Context) journal.CommandResult {
		t.Error("executed")
		return journal.CommandResult{}
	})
	require.ErrorIs(t, err, fails)
}

// TestWithoutJournal: the nonces are kept in memory.
func TestWithoutJournal(t *testing.T) {
	var o commands.Once
	do := func(context.Context) journal.CommandResult { return journal.CommandResult{Result: "ok"} }
	res, err := o.Do(t.Context(), &journal.Command{Nonce: "n"}, "ann", "interrupted", do)
	require.NoError(t, err)
	assert.Equal(t, "ok", res.Result)
	_, err = o.Do(t.Context(), &journal.Command{Nonce: "n"}, "ann", "interrupted", do)
	require.ErrorIs(t, err, commands.ErrKnown)
}
