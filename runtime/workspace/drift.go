package workspace

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/ambit-tools/ambit/runtime/internal/disk"
)

// noteDrift writes down durably what a rollback could not restore.
func (w *Workspace) noteDrift(name string, drift *DriftError) error {
	text, err := json.Marshal(drift)
	if err != nil {
		return err
	}
	temp := name + endSuffix + ".new"
	f, err := disk.Create(w.logs, temp, text, 0o600)
	if err != nil {
		return fmt.Errorf("cannot note the drift: %w", err)
	}
	if err := errors.Join(w.sync(f), f.Close()); err != nil {
		return err
	}
	if err := w.logs.Rename(temp, name+endSuffix); err != nil {
		return fmt.Errorf("cannot note the drift: %w", err)
	}
	return w.sync(disk.SyncDir{Dir: w.logs, Name: "."})
}

// readDrift returns what a rollback of the call could not restore, nil if it was
// not rolled back or all was restored.
func (w *Workspace) readDrift(name string) (*DriftError, error) {
	f, err := w.logs.Open(name+endSuffix, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("note of drift %q: %w", name, err)
	}
	text, err := io.ReadAll(f)
	drift := new(DriftError)
	if err = errors.Join(err, f.Close()); err == nil {
		err = json.Unmarshal(text, drift)
	}
	if err != nil {
		return nil, fmt.Errorf("note of drift %q: %w", name, err)
	}
	return drift, nil
}

// forgetDrift removes what was noted of an earlier attempt of a call.
func (w *Workspace) forgetDrift(key Key) error {
	err := w.logs.Remove(logName(key) + endSuffix)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("call %q: cannot remove its note of drift: %w", key.Call, err)
	}
	return nil
}
