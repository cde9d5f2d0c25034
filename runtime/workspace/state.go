package workspace

import (
	"io/fs"
	"syscall"

	"github.com/ambit-tools/ambit/runtime/content"
)

// What systems say of a path through a file, and of a directory that has entries.
var (
	errNotDir   error = syscall.ENOTDIR
	errNotEmpty error = syscall.ENOTEMPTY
)

// A Kind says what a path stands for.
type Kind string

// The kinds.
const (
	KindAbsent  Kind = ""
	KindFile    Kind = "file"
	KindDir     Kind = "dir"
	kindSpecial Kind = "special" // a link, a pipe, a device: nothing that can be restored
)

// A State is what a path stands for, but for times and owners.
type State struct {
	Kind   Kind        `json:"kind,omitempty"`
	Mode   fs.FileMode `json:"mode,omitempty"`   // permissions, and the further bits of a directory
	SHA256 string      `json:"sha256,omitempty"` // of a file
	Size   int64       `json:"size,omitempty"`   // of a file, in bytes
}

// ref names the content of a file.
func (s State) ref() content.Ref { return content.Ref{SHA256: s.SHA256, Size: s.Size} }

// fileState returns the state of a file.
func fileState(ref content.Ref, mode fs.FileMode) State {
	return State{Kind: KindFile, Mode: mode, SHA256: ref.SHA256, Size: ref.Size}
}

// modeBits are the bits of a mode that are kept.
const modeBits = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// What was seen at a target: its state, and what tells whether it is still so.
type seen struct {
	State
	blob content.Blob // of a file
	info fs.FileInfo  // nil: there is nothing
}
