package console

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/runtime/internal/httpguard"
)

// TestWhatIsReported: the application hears of a page that could not be made, and not of a person who has gone on
// to another page before it was.
func TestWhatIsReported(t *testing.T) {
	var reported []error
	p := &pages{report: func(err error) { reported = append(reported, err) }}
	broken := errors.New("the disk is gone")
	assert.Equal(t, httpguard.Failed, p.refusalOf(fmt.Errorf("read: %w", context.Canceled)).Code)
	assert.Equal(t, httpguard.Failed, p.refusalOf(broken).Code)
	p.tell(fmt.Errorf("the calls before: %w", context.Canceled))
	assert.Equal(t, []error{broken}, reported)
}
