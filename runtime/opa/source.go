package opa

import (
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

// A source is the text of a policy directory at one moment, the library included.
type source struct {
	files    []file // sorted by name
	revision string // digest of everything in files
	unread   Errors // about files that people may take for a part of the policy
}

// A file is one file of a source.
type file struct {
	name    string // slash path; the library's files begin with libraryName
	text    []byte
	library bool
}

// generated says that ambit generate wrote the file.
func (f file) generated() bool { return strings.HasPrefix(f.name, generatedDir+"/") }

// test says that the file holds tests, which the engine does not load.
func (f file) test() bool { return strings.HasSuffix(f.name, testSuffix) }

// rego says that the file is a policy or a test of one.
func (f file) rego() bool { return strings.HasSuffix(f.name, ".rego") }

// readSource reads everything in a policy directory that means something, and the library.
func readSource(fsys fs.FS) (*source, error) {
	if fsys == nil {
		return nil, Errors{{File: ".", Message: "no policy directory", Hint: "pass its file system"}}
	}
	var s source
	if err := s.walk(fsys, ".", 0); err != nil {
		return nil, err
	}
	if err := s.unread.err(); err != nil {
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
	s.revision = digest(s.files)
	return &s, nil
}

// walk adds the files below dir. It follows symbolic links, since a mounted
// ConfigMap consists of them, and passes over hidden names, since the real
// files of a ConfigMap hide behind one.
func (s *source) walk(fsys fs.FS, dir string, depth int) error {
	if depth > maxDepth {
		return Errors{{File: dir, Message: fmt.Sprintf("directories nest deeper than %d", maxDepth), Hint: "is there a loop of symbolic links?"}}
	}
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return fmt.Errorf("policy directory: %w", err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		name := path.Join(dir, e.Name())
		info, err := fs.Stat(fsys, name)
		if err != nil {
			return fmt.Errorf("policy directory: %w", err)
		}
		if info.IsDir() {
			if err := s.walk(fsys, name, depth+1); err != nil {
				return err
			}
			continue
		}
		if err := s.add(fsys, name, info.Size()); err != nil {
			return err
		}
	}
	return nil
}

// add reads one file, unless its name says that it is for people. A file that
// nobody reads is refused: who wrote it may believe that it decides.
func (s *source) add(fsys fs.FS, name string, size int64) error {
	base := path.Base(name)
	switch ext := path.Ext(base); {
	case ext == ".rego", base == "data.json", strings.HasPrefix(name, generatedDir+"/") && strings.HasSuffix(base, schemaSuffix):
	case ext == ".md", base == "README", strings.HasPrefix(base, "README."):
		return nil
	default:
		s.unread.addFile(name, fmt.Sprintf("%q is not read", base), unreadHint(base, ext))
		return nil
	}
	if size > maxFile {
		return Errors{{File: name, Message: fmt.Sprintf("%d bytes, more than %d", size, maxFile), Hint: "split the file"}}
	}
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return fmt.Errorf("policy directory: %w", err)
	}
	s.files = append(s.files, file{name: name, text: text})
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

// digest names the content of files: same files, same digest.
func digest(files []file) string {
	h := sha256.New()
	var n [8]byte
	write := func(b []byte) {
		binary.BigEndian.PutUint64(n[:], uint64(len(b)))
		h.Write(n[:])
		h.Write(b)
	}
	for _, f := range files {
		write([]byte(f.name))
		write(f.text)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}
