package engine_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// A dying is a journal whose process dies before the outcome of a call is written.
type dying struct{ *journal.Memory }

func (d dying) Append(ctx context.Context, entries []journal.Entry) error {
	for i := range entries {
		if entries[i].Mark == journal.MarkEnded {
			return errFull
		}
	}
	return d.Memory.Append(ctx, entries)
}

// TestWhatCouldNotBeSettledIsSettledLater: a participant that fails in one recovery
// works in the next. The call stays unknown.
func TestWhatCouldNotBeSettledIsSettledLater(t *testing.T) {
	for name, decided := range map[string]bool{"rolled back": false, "committed": true} {
		t.Run(name, func(t *testing.T) {
			var j journal.Memory
			failing := map[string]error{"commit": errors.New("no"), "settle": errors.New("no")}
			l := &ledgerOfWrites{fails: failing}
			inside, release := make(chan struct{}), make(chan struct{})
			after := okRead
			if !decided {
				after = func(ctx context.Context, in *readInput) (*readOutput, error) {
					close(inside)
					<-release
					return okRead(ctx, in)
				}
			}
			tool := func() *runtime.Tool { return writeTool(l, after) }
			turn := transacting(t, dying{&j}, l, tool()).turn()
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				turn.Execute(context.Background(), callOf("c1", "file_read", goodInput))
			}()
			if decided {
				<-ended
			} else {
				<-inside
			}

			exec := transacting(t, &j, l, tool()).exec
			require.Equal(t, runtime.Unknown, exec.Await(t.Context(), "s", "c1").Kind)
			require.Len(t, l.open, 1)
			l.fails = nil
			exec = transacting(t, &j, l, tool()).exec
			assert.Equal(t, runtime.Unknown, exec.Await(t.Context(), "s", "c1").Kind)
			assert.Empty(t, l.open)
			assert.Equal(t, decided, len(l.stands) == 1)
			close(release)
			<-ended
		})
	}
}
