package acts_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/internal/acts"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// TestRefusals: the attempts of an actor beyond the bound are counted exactly, over hours, over the end, and over
// more actors than are counted apart.
func TestRefusals(t *testing.T) {
	var r acts.Refusals
	at := time.Unix(1_000_000, 0)
	written, entries := 0, map[string][]int{}
	record := func(e *journal.Record) { entries[e.By] = append(entries[e.By], e.Operator.Omitted) }
	refuse := func(by string) {
		if r.Over(at, by) {
			r.Counted(at, by, record)
			return
		}
		written++
		r.Written(at, by, record)
	}
	for range 32 + 10 {
		refuse("mallory")
	}
	assert.Equal(t, 32, written)
	assert.Equal(t, []int{1, 1, 2, 4}, entries["mallory"], "ten were counted, and 8 of them are told so far")
	refuse("bob")
	assert.Equal(t, 33, written, "bob has a bound of his own")
	at = at.Add(time.Hour)
	refuse("mallory")
	assert.Equal(t, 34, written, "a later hour")
	assert.Equal(t, []int{1, 1, 2, 4, 2}, entries["mallory"])
	for range 40 {
		refuse("mallory")
	}
	r.Close(at, record)
	sum := 0
	for _, n := range entries["mallory"] {
		sum += n
	}
	assert.Equal(t, 10+9, sum)

	clear(entries)
	written = 0
	for i := range 2_000 {
		refuse(fmt.Sprint("actor ", i))
	}
	require.Less(t, written, 1_024+64, "all the others share a bound")
	r.Close(at, record)
	sum = 0
	for _, list := range entries {
		for _, n := range list {
			sum += n
		}
	}
	assert.Equal(t, 2_000, written+sum)
}
