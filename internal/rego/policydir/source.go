package policydir

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/policies"
)

const (
	GeneratedDir = "ambit_gen"  // the folder that ambit generate writes
	LibraryName  = "ambit:"     // prefix of the library's files in positions
	maxFile      = 16 << 20     // bytes of one file
	TestSuffix   = "_test.rego" // ends the name of a file of tests
)

// A Source is the text of policy directories at one moment, the library included.
type Source struct {
	Files    []File    // sorted by name
	Home     directory // the directory that holds the generated files
	Revision string    // digest of everything in files
	faults   Errors    // about files that people may take for a part of the policy, and about several directories
}

// A File is one file of a source.
type File struct {
	Name    string // as it is shown: unique; the library's files begin with libraryName
	dir     int    // the index of its directory
	Path    string // slash path inside its directory
	Text    []byte
	Library bool
}

// Generated says that ambit generate wrote the file.
func (f File) Generated() bool { return strings.HasPrefix(f.Path, GeneratedDir+"/") }

// Test says that the file holds tests, which the engine does not load.
func (f File) Test() bool { return strings.HasSuffix(f.Name, TestSuffix) }

// rego says that the file is a policy or a test of one.
func (f File) rego() bool { return strings.HasSuffix(f.Name, ".rego") }

// ReadSource reads everything in a policy directory, or in all directories of a Join,
// that means something, and the library.
func ReadSource(fsys fs.FS) (*Source, error) {
	dirs, err := directories(fsys)
	if err != nil {
		return nil, err
	}
	s := Source{Home: dirs[0]}
	for i, d := range dirs {
		if err := d.walk(".", 0, func(name string, info fs.FileInfo) error { return s.add(d, i, name, info.Size()) }); err != nil {
			return nil, err
		}
	}
	s.together(dirs)
	if err := s.faults.Err(); err != nil {
		return nil, err
	}
	library, err := fs.ReadDir(policies.FS, ".")
	if err != nil {
		return nil, err
	}
	for _, e := range library {
		if strings.HasSuffix(e.Name(), TestSuffix) {
			continue
		}
		text, err := policies.FS.ReadFile(e.Name())
		if err != nil {
			return nil, err
		}
		s.Files = append(s.Files, File{Name: LibraryName + e.Name(), Text: text, Library: true})
	}
	slices.SortFunc(s.Files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	s.Revision = s.digest()
	return &s, nil
}

// add reads one file, unless its name is that of a README or of a *.md file. A file
// that the loader does not read is refused: its author may believe that it is a policy.
func (s *Source) add(in directory, index int, name string, size int64) error {
	base := path.Base(name)
	switch ext := path.Ext(base); {
	case ext == ".rego", base == "data.json", name == SchemasFile, strings.HasPrefix(name, GeneratedDir+"/") && strings.HasSuffix(base, SchemaSuffix):
	case ext == ".md", base == "README", strings.HasPrefix(base, "README."):
		return nil
	default:
		s.faults.AddFile(in.FileName(name), fmt.Sprintf("%q is not read", base), unreadHint(base, ext))
		return nil
	}
	if size > maxFile {
		return policies.Diagnostics{{File: in.FileName(name), Message: fmt.Sprintf("%d bytes, more than %d", size, maxFile), Hint: "split the file"}}
	}
	text, err := fs.ReadFile(in.FS, name)
	if err != nil {
		return in.failed(err)
	}
	s.Files = append(s.Files, File{Name: in.FileName(name), dir: index, Path: name, Text: text})
	return nil
}

// unreadHint says what the file may have been meant to be.
func unreadHint(base, ext string) string {
	switch lower := strings.ToLower(ext); {
	case lower == ".json" || lower == ".yaml" || lower == ".yml":
		return "data for policies goes into a file named data.json"
	case ext != "" && Distance(lower, ".rego") <= 2:
		return "call it " + strings.TrimSuffix(base, ext) + ".rego"
	}
	return "the policy folder is for *.rego, data.json, README and *.md: move it elsewhere"
}

// digest names the content of the files: same files, same digest. The names of
// directories are no part of it, their order is.
func (s *Source) digest() string {
	h := sha256.New()
	var n [8]byte
	write := func(b []byte) {
		binary.BigEndian.PutUint64(n[:], uint64(len(b)))
		h.Write(n[:])
		h.Write(b)
	}
	files := slices.SortedFunc(slices.Values(s.Files), func(a, b File) int {
		return cmp.Or(cmp.Compare(a.dir, b.dir), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Name, b.Name))
	})
	for i, f := range files {
		if i > 0 && f.dir != files[i-1].dir {
			write([]byte{0}) // the next directory; no path is so
		}
		write([]byte(cmp.Or(f.Path, f.Name)))
		write(f.Text)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}
