package workspace

import (
	"context"

	"github.com/ambit-tools/ambit/runtime/content"
	"github.com/ambit-tools/ambit/runtime/internal/disk"
)

// On returns the workspace in a directory of any disk. A nil commit is that of
// Open.
func On(root, logs disk.Dir, store *content.Store, commit func(context.Context, func() error) error) *Workspace {
	w := OnDisk(root, logs, store)
	if commit != nil {
		w.commit = commit
	}
	return w
}

// LogName returns the name of the undo log of a call.
func LogName(key Key) string { return logName(key) + logSuffix }

// SoundRoot fails for versions of Go whose os.Root can be left.
func SoundRoot(version string) error { return soundRoot(version) }
