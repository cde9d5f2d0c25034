package content

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
)

// The errors of a Store, to be found with errors.Is.
var (
	// ErrNotFound says that the store does not have the content.
	ErrNotFound = errors.New("the store does not have it")
	// ErrCorrupt says that what is stored is not what was put there.
	ErrCorrupt = errors.New("what is stored is not what was put there")
	// ErrBroken says that a write to the disk was lost, so that nothing can be
	// promised any more until the store is opened anew.
	ErrBroken = errors.New("a write to the disk was lost: look at the disk, then open the store anew")
)

// A Ref names a content. It is small and can be kept as JSON.
type Ref struct {
	SHA256 string `json:"sha256"` // 64 hexadecimal digits, lower case
	Size   int64  `json:"size"`   // in bytes
}

// RefOf returns the name of data, whether it is stored or not.
func RefOf(data []byte) Ref {
	sum := sha256.Sum256(data)
	return Ref{SHA256: hex.EncodeToString(sum[:]), Size: int64(len(data))}
}

// Verify reads data to its end. The error is ErrCorrupt when it is not the content.
func (r Ref) Verify(data io.Reader) error {
	sum := sha256.New()
	n, err := io.Copy(sum, data)
	switch {
	case err != nil:
		return fmt.Errorf("content %s: %w", r, err)
	case n != r.Size:
		return corrupt(r, fmt.Sprintf("has %d bytes, not %d", n, r.Size))
	case hex.EncodeToString(sum.Sum(nil)) != r.SHA256:
		return corrupt(r, "has another hash")
	}
	return nil
}

// A Blob is data with its name, computed once: hashing takes about as long as
// writing. The data is not to be changed any more.
type Blob struct {
	ref  Ref
	data []byte
}

// BlobOf returns data with its name.
func BlobOf(data []byte) Blob { return Blob{RefOf(data), data} }

// Ref returns the name.
func (b Blob) Ref() Ref { return b.ref }

// Data returns the data.
func (b Blob) Data() []byte { return b.data }

// String returns the hash.
func (r Ref) String() string { return r.SHA256 }

// file returns where the content is, and in which directory.
func (r Ref) file() (name, shard string) {
	return r.SHA256[:2] + "/" + r.SHA256[2:], r.SHA256[:2]
}

// check fails for what is no Ref.
func (r Ref) check() error {
	if _, err := hex.DecodeString(r.SHA256); err != nil || len(r.SHA256) != 2*sha256.Size || r.Size < 0 || !lower(r.SHA256) {
		return fmt.Errorf("%q, %d bytes, names no content: want 64 lower case hexadecimal digits and a size", r.SHA256, r.Size)
	}
	return nil
}

func lower(s string) bool {
	for i := range len(s) {
		if s[i] >= 'A' && s[i] <= 'Z' {
			return false
		}
	}
	return true
}
