package runtime_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/runtime"
)

func TestNotImplemented(t *testing.T) {
	err := runtime.NotImplemented("file_read")
	assert.EqualError(t, err, `tool "file_read" is declared and not implemented: unsupported operation`)
	assert.ErrorIs(t, err, errors.ErrUnsupported)
}
