package workspace

import (
	"io/fs"
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/runtime/content"
)

// A FileState is what a path stands for.
type FileState struct {
	Path string `json:"path"`
	State
}

// A Snapshot is what some paths stand for. It is small and can be kept as JSON:
// the contents are in the store.
type Snapshot []FileState

func byPath(a, b FileState) int { return strings.Compare(a.Path, b.Path) }

// of returns what the snapshot says of a path.
func (s Snapshot) of(name string) (State, bool) {
	for _, f := range s {
		if f.Path == name {
			return f.State, true
		}
	}
	return State{}, false
}

// WithFile returns what s becomes when a file is written as WriteFile does: it
// keeps its mode, a new one gets perm.
func (s Snapshot) WithFile(name string, data []byte, perm fs.FileMode) Snapshot {
	if old, _ := s.of(name); old.Kind == KindFile {
		perm = old.Mode
	}
	return s.with(name, fileState(content.RefOf(data), perm))
}

// WithDir returns what s becomes when a directory is made.
func (s Snapshot) WithDir(name string, perm fs.FileMode) Snapshot {
	return s.with(name, State{Kind: KindDir, Mode: perm})
}

// Without returns what s becomes when a path is removed.
func (s Snapshot) Without(name string) Snapshot { return s.with(name, State{}) }

func (s Snapshot) with(name string, state State) Snapshot {
	out := slices.DeleteFunc(slices.Clone(s), func(f FileState) bool { return f.Path == name })
	return append(out, FileState{Path: name, State: state})
}
