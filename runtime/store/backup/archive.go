package backup

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/ambit-tools/ambit/runtime/wire"
)

// The names of the files in a backup.
const (
	nameStore    = "store"
	nameKeys     = "keys"
	nameAnchor   = "anchor"
	nameVerifier = "audit.pub"
	nameObjects  = "objects/"
	nameManifest = "manifest.json"
)

// manifestVersion is that of the format.
const manifestVersion = 1

// maxManifest is how many bytes a manifest has at most: enough for a million contents.
const maxManifest = 256 << 20

// ErrDamaged says that a file is no backup, or not all of one. It is found with errors.Is.
var ErrDamaged = errors.New("the file is not a whole backup")

// A Manifest says what is in a backup.
type Manifest struct {
	Version int       `json:"version"`
	Entries uint64    `json:"entries"` // of the store
	At      time.Time `json:"at"`      // when the store was copied
	Files   []File    `json:"files"`
}

// Contents returns how many contents are in the backup.
func (m *Manifest) Contents() (n int) {
	for _, f := range m.Files {
		if objectName.MatchString(f.Name) {
			n++
		}
	}
	return n
}

// A File is a file in a backup.
type File struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// packed writes the files of a backup.
type packed struct {
	w        *tar.Writer
	manifest Manifest
}

// add adds a file.
func (p *packed) add(name string, f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := p.w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: info.Size(), Format: tar.FormatPAX}); err != nil {
		return err
	}
	sum := sha256.New()
	// A file that grows meanwhile is cut, one that shrinks is an error.
	if _, err := io.CopyN(io.MultiWriter(p.w, sum), f, info.Size()); err != nil {
		return fmt.Errorf("%q: %w", f.Name(), err)
	}
	p.manifest.Files = append(p.manifest.Files, File{Name: name, Size: info.Size(), SHA256: hex.EncodeToString(sum.Sum(nil))})
	return nil
}

// addPath adds the file of a path.
func (p *packed) addPath(name, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(p.add(name, f), f.Close())
}

// close writes the manifest.
func (p *packed) close() error {
	text, err := json.Marshal(p.manifest)
	if err != nil {
		return err
	}
	if err := p.w.WriteHeader(&tar.Header{Name: nameManifest, Mode: 0o600, Size: int64(len(text)), Format: tar.FormatPAX}); err != nil {
		return err
	}
	if _, err := p.w.Write(text); err != nil {
		return err
	}
	return p.w.Close()
}

// objectName matches the names of contents.
var objectName = regexp.MustCompile(`^objects/([0-9a-f]{2})([0-9a-f]{62})$`)

// places returns where the file of a name belongs below the staged store; false for a name that no
// file of a backup has.
func places(name, staged string) (string, bool) {
	switch name {
	case nameStore:
		return staged, true
	case nameKeys:
		return staged + ".keys", true
	case nameAnchor:
		return staged + ".anchor", true
	case nameVerifier:
		return staged + ".audit.pub", true
	}
	if m := objectName.FindStringSubmatch(name); m != nil {
		return filepath.Join(staged+".objects", m[1], m[2]), true
	}
	return "", false
}

// unpack writes the files of a backup, each synced, to where they belong below the staged store, and
// compares them with the manifest.
func unpack(r io.Reader, staged string) (*Manifest, error) {
	var found []File
	seen := map[string]bool{}
	for in := tar.NewReader(r); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%w: it has no manifest: its end is missing", ErrDamaged)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		if h.Typeflag == tar.TypeReg && h.Name == nameManifest {
			return checkManifest(in, found)
		}
		path, ok := places(h.Name, staged)
		if h.Typeflag != tar.TypeReg || !ok || seen[h.Name] {
			return nil, fmt.Errorf("%w: it has %.80q, which no backup has, or has it twice", ErrDamaged, h.Name)
		}
		seen[h.Name] = true
		sum, err := unpackFile(in, path)
		if err != nil {
			return nil, err
		}
		found = append(found, File{Name: h.Name, Size: h.Size, SHA256: sum})
	}
}

// unpackFile writes a file that is not there, and syncs it.
func unpackFile(in io.Reader, path string) (sum string, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	if _, err = io.Copy(io.MultiWriter(f, h), in); errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("%w: its end is missing", ErrDamaged)
	}
	if err == nil {
		err = f.Sync()
	}
	return hex.EncodeToString(h.Sum(nil)), errors.Join(err, f.Close())
}

// checkManifest reads the manifest and compares it with the files before it.
func checkManifest(in io.Reader, found []File) (*Manifest, error) {
	text, err := io.ReadAll(io.LimitReader(in, maxManifest))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	var m Manifest
	bad := wire.Unmarshal(text, wire.Limits{Size: maxManifest}, &m)
	if m.Version != manifestVersion && (bad == nil || m.Version > 0) {
		return nil, fmt.Errorf("the backup has version %d, and this program knows %d: use the ambit that has written it", m.Version, manifestVersion)
	}
	if bad != nil {
		return nil, fmt.Errorf("%w: its manifest cannot be read: %s", ErrDamaged, bad[0])
	}
	if len(m.Files) != len(found) {
		return nil, fmt.Errorf("%w: it has %d files, and its manifest %d", ErrDamaged, len(found), len(m.Files))
	}
	for i, f := range found {
		if m.Files[i] != f {
			return nil, fmt.Errorf("%w: %q is not what the manifest says", ErrDamaged, f.Name)
		}
		if o := objectName.FindStringSubmatch(f.Name); o != nil && o[1]+o[2] != f.SHA256 {
			return nil, fmt.Errorf("%w: the content %q is another one", ErrDamaged, f.Name)
		}
	}
	for i, name := range []string{nameStore, nameKeys} {
		if len(found) <= i || found[i].Name != name {
			return nil, fmt.Errorf("%w: it has no file %q at its place", ErrDamaged, name)
		}
	}
	return &m, nil
}
