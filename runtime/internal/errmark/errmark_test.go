package errmark_test

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime/internal/errmark"
)

func TestMain(m *testing.M) { battery.Main(m) }

var errFails = errors.New("it fails")

// TestPublicOf: only a mark makes an error public, at any depth.
func TestPublicOf(t *testing.T) {
	marked := &errmark.Public{Code: "no_such_file", Err: errFails}
	assert.Same(t, marked, errmark.PublicOf(fmt.Errorf("read: %w", errors.Join(errFails, marked))))
	assert.Nil(t, errmark.PublicOf(errFails))
	assert.Nil(t, errmark.PublicOf(&errmark.Transient{Err: errFails}))
	assert.ErrorIs(t, marked, errFails)
	assert.EqualError(t, marked, "it fails")
}

// TestIsTransient: a mark, or an error of the system for what another process may free again.
func TestIsTransient(t *testing.T) {
	for err, want := range map[error]bool{
		errFails: false, fs.ErrNotExist: false, syscall.EACCES: false, &errmark.Public{Err: errFails}: false,
		&errmark.Transient{Err: errFails}: true, &fs.PathError{Op: "open", Err: syscall.EMFILE}: true,
		syscall.EAGAIN: true, syscall.ENOMEM: true, syscall.ENFILE: true, syscall.ENOSPC: true,
	} {
		assert.Equal(t, want, errmark.IsTransient(fmt.Errorf("run: %w", err)), "%v", err)
	}
	assert.False(t, errmark.IsTransient(nil))
}
