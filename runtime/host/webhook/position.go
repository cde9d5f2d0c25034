package webhook

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A Position says up to which entry of the journal an endpoint was told. Its methods are called by
// one goroutine at a time.
type Position interface {
	// Load returns the saved position, and false when none was saved.
	Load() (position uint64, known bool, err error)
	// Save returns when the position would outlive a crash.
	Save(position uint64) error
}

// A File is a Position in a file of its own.
type File string

// FileFor returns the file for an endpoint, beside a store. Its name does not show the URL.
func FileFor(store string, to *Endpoint) File {
	sum := sha256.Sum256([]byte(to.URL))
	return File(store + ".webhook-" + hex.EncodeToString(sum[:8]))
}

// Load implements Position.
func (f File) Load() (position uint64, known bool, err error) {
	text, err := os.ReadFile(string(f))
	if errors.Is(err, os.ErrNotExist) {
		return 0, false, nil
	}
	if err == nil {
		position, err = strconv.ParseUint(strings.TrimSuffix(string(text), "\n"), 10, 64)
	}
	if err != nil {
		return 0, false, fmt.Errorf("its position in %s cannot be read (remove the file to begin with the next entry): %w", filepath.Base(string(f)), err)
	}
	return position, true, nil
}

// Save implements Position.
func (f File) Save(position uint64) (err error) {
	dir := filepath.Dir(string(f))
	temp, err := os.CreateTemp(dir, filepath.Base(string(f))+"-*") // for its owner only
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temp.Name())
		}
	}()
	_, err = temp.WriteString(strconv.FormatUint(position, 10) + "\n")
	if err == nil {
		err = temp.Sync()
	}
	if err = errors.Join(err, temp.Close()); err != nil {
		return err
	}
	if err = os.Rename(temp.Name(), string(f)); err != nil {
		return err
	}
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	_ = folder.Sync() // some systems cannot
	return folder.Close()
}
