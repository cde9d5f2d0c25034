package disk

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
)

// TempName returns a random name that no file has, behind a prefix.
func TempName(prefix string) string {
	var b [10]byte
	_, _ = rand.Read(b[:]) // never fails
	return prefix + hex.EncodeToString(b[:])
}

// Create makes a file with a content and a mode, not durable yet: the caller
// syncs and closes it. The returned file can be read, with any mode. Create replaces
// a file of that name that a crash has left.
func Create(d Dir, name string, data []byte, mode fs.FileMode) (File, error) {
	f, err := CreateNew(d, name, data, mode)
	if errors.Is(err, fs.ErrExist) {
		if err = d.Remove(name); err == nil {
			f, err = CreateNew(d, name, data, mode)
		}
	}
	return f, err
}

// CreateNew is Create for a name that nothing may have: else the error is
// fs.ErrExist.
func CreateNew(d Dir, name string, data []byte, mode fs.FileMode) (File, error) {
	f, err := d.Open(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if _, err = f.Write(data); err == nil && mode != 0o600 {
		err = f.Chmod(mode)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close(), d.Remove(name))
	}
	return begin(f), nil
}
