package opa

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
	generatedDir = "ambit_gen"
	libraryName  = "ambit:" // prefix of the library's files in positions
	maxFile      = 16 << 20 // bytes of one file
	maxDepth     = 16       // nested directories; also what ends a loop of symbolic links
	testSuffix   = "_test.rego"
)

// A source is the text of policy directories at one moment, the library included.
type source struct {
	files    []file    // sorted by name
	home     directory // the directory that holds the generated files
	revision string    // digest of everything in files
	faults   Errors    // about files that people may take for a part of the policy, and about several directories
}

// A file is one file of a source.
type file struct {
	name    string // as it is shown: unique; the library's files begin with libraryName
	dir     int    // the index of its directory
	path    string // slash path inside its directory
	text    []byte
	library bool
}

// generated says that ambit generate wrote the file.
func (f file) generated() bool { return strings.HasPrefix(f.path, generatedDir+"/") }

// test says that the file holds tests, which the engine does not load.
func (f file) test() bool { return strings.HasSuffix(f.name, testSuffix) }

// rego says that the file is a policy or a test of one.
func (f file) rego() bool { return strings.HasSuffix(f.name, ".rego") }

// readSource reads everything in a policy directory, or in all directories of a Join,
// that means something, and the library.
func readSource(fsys fs.FS) (*source, error) {
	dirs, err := directories(fsys)
	if err != nil {
		return nil, err
	}
	s := source{home: dirs[0]}
	for i, d := range dirs {
		if err := s.walk(d, i, ".", 0); err != nil {
			return nil, err
		}
	}
	s.together(dirs)
	if err := s.faults.err(); err != nil {
		return nil, err
	}
	library, err := fs.ReadDir(policies.FS, ".")
	if err != nil {
		return nil, err
	}
	for _, e := range library {
		if strings.HasSuffix(e.Name(), testSuffix) {
			continue
		}
		text, err := policies.FS.ReadFile(e.Name())
		if err != nil {
			return nil, err
		}
		s.files = append(s.files, file{name: libraryName + e.Name(), text: text, library: true})
	}
	slices.SortFunc(s.files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	s.revision = s.digest()
	return &s, nil
}

// walk adds the files below dir. It follows symbolic links, since a mounted
// ConfigMap consists of them, and passes over hidden names, since the real
// files of a ConfigMap hide behind one.
func (s *source) walk(in directory, index int, dir string, depth int) error {
	if depth > maxDepth {
		return policies.Diagnostics{{File: in.name(dir), Message: fmt.Sprintf("directories nest deeper than %d", maxDepth), Hint: "is there a loop of symbolic links?"}}
	}
	entries, err := fs.ReadDir(in.FS, dir)
	if err != nil {
		return in.failed(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		name := path.Join(dir, e.Name())
		info, err := fs.Stat(in.FS, name)
		if err != nil {
			return in.failed(err)
		}
		if info.IsDir() {
			if err := s.walk(in, index, name, depth+1); err != nil {
				return err
			}
			continue
		}
		if err := s.add(in, index, name, info.Size()); err != nil {
			return err
		}
	}
	return nil
}

// add reads one file, unless its name is that of a README or of a *.md file. A file
// that the loader does not read is refused: its author may believe that it is a policy.
func (s *source) add(in directory, index int, name string, size int64) error {
	base := path.Base(name)
	switch ext := path.Ext(base); {
	case ext == ".rego", base == "data.json", name == schemasFile, strings.HasPrefix(name, generatedDir+"/") && strings.HasSuffix(base, schemaSuffix):
	case ext == ".md", base == "README", strings.HasPrefix(base, "README."):
		return nil
	default:
		s.faults.addFile(in.name(name), fmt.Sprintf("%q is not read", base), unreadHint(base, ext))
		return nil
	}
	if size > maxFile {
		return policies.Diagnostics{{File: in.name(name), Message: fmt.Sprintf("%d bytes, more than %d", size, maxFile), Hint: "split the file"}}
	}
	text, err := fs.ReadFile(in.FS, name)
	if err != nil {
		return in.failed(err)
	}
	s.files = append(s.files, file{name: in.name(name), dir: index, path: name, text: text})
	return nil
}

// unreadHint says what the file may have been meant to be.
func unreadHint(base, ext string) string {
	switch lower := strings.ToLower(ext); {
	case lower == ".json" || lower == ".yaml" || lower == ".yml":
		return "data for policies goes into a file named data.json"
	case ext != "" && distance(lower, ".rego") <= 2:
		return "call it " + strings.TrimSuffix(base, ext) + ".rego"
	}
	return "the policy folder is for *.rego, data.json, README and *.md: move it elsewhere"
}

// digest names the content of the files: same files, same digest. The names of
// directories are no part of it, their order is.
func (s *source) digest() string {
	h := sha256.New()
	var n [8]byte
	write := func(b []byte) {
		binary.BigEndian.PutUint64(n[:], uint64(len(b)))
		h.Write(n[:])
		h.Write(b)
	}
	files := slices.SortedFunc(slices.Values(s.files), func(a, b file) int {
		return cmp.Or(cmp.Compare(a.dir, b.dir), cmp.Compare(a.path, b.path), cmp.Compare(a.name, b.name))
	})
	for i, f := range files {
		if i > 0 && f.dir != files[i-1].dir {
			write([]byte{0}) // the next directory; no path is so
		}
		write([]byte(cmp.Or(f.path, f.name)))
		write(f.text)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}
