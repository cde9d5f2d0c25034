package usercode_test

import (
	"errors"
	"fmt"
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

type chain func() error

func (chain) Error() string   { return "chain" }
func (c chain) Unwrap() error { return c() }

// TestBound: an error that wraps too many, or itself, is replaced, so that errors.Is ends.
func TestBound(t *testing.T) {
	bad := errors.New("bad")
	var cycle, endless error
	cycle = chain(func() error { return cycle })
	endless = chain(func() error { return errors.Join(bad, endless) })
	for _, err := range []error{cycle, endless, errors.Join(bad, cycle)} {
		bound := usercode.Bound(err)
		assert.ErrorContains(t, bound, "wraps more than 1000 errors, or itself")
		assert.NotErrorIs(t, bound, bad)
	}
	deep := bad
	for range 900 {
		deep = fmt.Errorf("more: %w", deep)
	}
	assert.Equal(t, deep, usercode.Bound(deep))
	assert.Equal(t, errors.Join(bad, deep), usercode.Bound(errors.Join(bad, deep)))
	assert.NoError(t, usercode.Bound(nil))
	angry := chain(func() error { panic("no") })
	assert.NotNil(t, usercode.Bound(angry))
	assert.EqualError(t, usercode.Call(func() error { return cycle }), "chain (an error that wraps more than 1000 errors, or itself)")
}

// TestStackIsApart: the text of a panic is its value.
func TestStackIsApart(t *testing.T) {
	err := usercode.Call(func() error { panic("oops") })
	assert.EqualError(t, err, "panic: oops")
	var panicked *usercode.Panicked
	assert.ErrorAs(t, err, &panicked)
	assert.Contains(t, string(panicked.Stack), "TestStackIsApart")
}
