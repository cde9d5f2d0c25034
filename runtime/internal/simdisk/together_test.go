package simdisk_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/runtime/internal/simdisk"
)

// TestManyDisks makes disks and takes them away at the same time: all of them are
// in one list of SQLite's.
func TestManyDisks(t *testing.T) {
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				d, err := simdisk.New(0)
				assert.NoError(t, err)
				assert.NoError(t, d.Close())
			}
		})
	}
	wg.Wait()
}
