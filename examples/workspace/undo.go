package main

import (
	"io/fs"

	"github.com/ambit-tools/ambit/examples/workspace/filetools"
	"github.com/ambit-tools/ambit/runtime/wire"
	"github.com/ambit-tools/ambit/runtime/workspace"
)

// stored returns a snapshot as the journal keeps it: the declared type, so that
// what an undo will need is checked like everything else that is stored.
func stored(s workspace.Snapshot) []filetools.FileState {
	list := make([]filetools.FileState, len(s))
	for i, f := range s {
		list[i] = filetools.FileState{Path: f.Path, Mode: int64(f.Mode), Sha256: f.SHA256, Size: f.Size}
		if f.Kind != workspace.KindAbsent {
			list[i].Kind = wire.Some(filetools.FileStateKind(f.Kind))
		}
	}
	return list
}

// loaded is the inverse of stored.
func loaded(list []filetools.FileState) workspace.Snapshot {
	s := make(workspace.Snapshot, len(list))
	for i, f := range list {
		s[i] = workspace.FileState{Path: f.Path, State: workspace.State{
			Kind: workspace.Kind(f.Kind.Or("")), Mode: fs.FileMode(f.Mode), SHA256: f.Sha256, Size: f.Size,
		}}
	}
	return s
}
