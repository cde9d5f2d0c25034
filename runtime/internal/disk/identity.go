package disk

import "io/fs"

// An Identity tells files and their versions apart that have one size and time.
type Identity struct {
	Inode   uint64
	Changed int64 // when the inode was changed, in nanoseconds, which no program can set
}

// Unchanged says that two descriptions are of one version of one file, as far as
// can be seen without reading it.
func Unchanged(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return a.Size() == b.Size() && a.Mode() == b.Mode() && a.ModTime().Equal(b.ModTime()) && IdentityOf(a) == IdentityOf(b)
}
