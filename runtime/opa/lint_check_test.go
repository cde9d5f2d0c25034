package opa

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A fault of the checks refuses the policies, and does not end the program.
func TestChecksThatPanic(t *testing.T) {
	_, err := Source(nil)
	assert.ErrorContains(t, err, "checking the policies failed, which is a bug in ambit: panic: ")
}
