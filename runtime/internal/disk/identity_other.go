//go:build !linux

package disk

import "io/fs"

// IdentityOf returns the identity of what info describes, the zero one when the
// system has none.
func IdentityOf(info fs.FileInfo) Identity {
	id, _ := info.Sys().(Identity)
	return id
}
