package policies

import (
	"io/fs"
	"slices"
	"strings"
)

// A Dir is one of several policy directories.
type Dir struct {
	// Name begins the names of the directory's files in errors, in decisions and in
	// reports: hours.rego of "org" is org/hours.rego. The files of a directory
	// without a name are named as they are.
	Name string
	FS   fs.FS
}

// Join returns several policy directories as one, for lint.Check and for Load, Reload, WatchFS,
// Inspect and Test of package opa:
//
//	rules := policies.Join(policies.Dir{FS: os.DirFS("shop/policy")}, policies.Dir{Name: "org", FS: os.DirFS("/etc/acme/policies")})
//	policy, err := opa.Load(rules, reg)
//
// The files of all directories together are the policies, as the files of one directory
// are. Each directory keeps its own root: org/limits/data.json is data.limits.
// Exactly one holds ambit_gen. Files of different directories may have the same
// path; names that would not tell them apart are an error when the directories
// are read. The revision depends on the order of the directories and not on
// their names.
//
// As a file system the result opens a file by the name that an error or a decision
// has for it. It lists no directories.
func Join(dirs ...Dir) fs.FS { return joined(slices.Clone(dirs)) }

type joined []Dir

// Open implements fs.FS.
func (j joined) Open(name string) (fs.File, error) {
	err := error(&fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist})
	for _, d := range j {
		inside, ok := name, true
		if d.Name != "" {
			inside, ok = strings.CutPrefix(name, d.Name+"/")
		}
		if !ok || d.FS == nil || !fs.ValidPath(inside) {
			continue
		}
		var f fs.File
		if f, err = d.FS.Open(inside); err == nil {
			return f, nil
		}
	}
	return nil, err
}

// Joined returns the directories that Join was given. A file system that Join did not
// make is one directory without a name, and joined is false.
func Joined(fsys fs.FS) (dirs []Dir, isJoined bool) {
	if all, ok := fsys.(joined); ok {
		return all, true
	}
	return []Dir{{FS: fsys}}, false
}
