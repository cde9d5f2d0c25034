package commitlog_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/internal/commitlog"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// TestTrail: a flush of the entries of one call waits for its latest entry and writes those before it, and
// without a log nothing has to be durable.
func TestTrail(t *testing.T) {
	bubble(t, func(t *testing.T, w *commitlog.Writer, d *disk) {
		var a, b commitlog.Trail
		a.Open(w)
		b.Open(w)
		require.NoError(t, a.Flush())
		assert.Empty(t, d.stored(), "it has no entry")
		first := a.Add(&journal.Record{Kind: "a"}, nil)
		assert.Equal(t, first+1, b.Add(&journal.Record{Kind: "b"}, nil))
		assert.Equal(t, first, a.Last())
		require.NoError(t, b.Flush())
		assert.Equal(t, [][]uint64{{first, first + 1}}, d.stored())
		d.fail(errBroken)
		require.NoError(t, a.Flush(), "it is written")
		a.Add(&journal.Record{Kind: "a"}, nil)
		require.ErrorIs(t, a.Flush(), errBroken)
		require.ErrorIs(t, b.FlushThroughStall(), errBroken, "nothing more will be written")
	})
	var none commitlog.Trail
	none.Open(nil)
	assert.NoError(t, none.Flush())
	assert.NoError(t, none.FlushThroughStall())
}
