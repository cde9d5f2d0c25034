package usercode_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/runtime/internal/usercode"
)

type angry struct{}

func (angry) Error() string { panic("no") }

// TestCall: the error can be unwrapped, a panic is an error, and so is an error whose text panics.
func TestCall(t *testing.T) {
	bad := errors.New("bad")
	err := usercode.Call(func() error { return bad })
	assert.ErrorIs(t, err, bad)
	assert.EqualError(t, err, "bad")
	assert.ErrorContains(t, usercode.Call(func() error { panic("oops") }), "panic: oops")
	assert.EqualError(t, usercode.Call(func() error { return angry{} }), "usercode_test.angry, whose Error method panics")
	assert.NoError(t, usercode.Call(func() error { return nil }))
}
