// Package scratch measures and removes the private folder of a process.
package scratch

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Size returns the bytes of the files in a folder, as far as they can be seen.
func Size(dir string) (sum int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				sum += info.Size()
			}
		}
		return nil
	})
	return sum
}

// Remove removes a folder that a hostile program may have filled.
func Remove(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	var walk func(string)
	walk = func(dir string) { // folders that were made unreadable
		_ = os.Chmod(dir, 0o700)
		list, _ := os.ReadDir(dir)
		for _, d := range list {
			if d.IsDir() {
				walk(dir + "/" + d.Name())
			}
		}
	}
	walk(dir)
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("isolate: private folder: %w", err)
	}
	return nil
}
