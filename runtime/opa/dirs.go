package opa

import (
	"fmt"
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

// Join returns several policy directories as one, for Load, Reload, WatchFS,
// Check, Inspect and Test:
//
//	rules := opa.Join(opa.Dir{FS: os.DirFS("shop/policy")}, opa.Dir{Name: "org", FS: os.DirFS("/etc/acme/policies")})
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

// directories returns the policy directories that a file system stands for.
func directories(fsys fs.FS) ([]Dir, error) {
	dirs, several := fsys.(joined)
	if !several {
		dirs = joined{{FS: fsys}}
	}
	if len(dirs) == 0 {
		dirs = joined{{}}
	}
	for i, d := range dirs {
		switch {
		case d.FS == nil:
			return nil, Errors{{File: d.name("."), Message: "no policy directory", Hint: "pass its file system"}}
		case strings.HasPrefix(d.Name, libraryName):
			return nil, Errors{{File: d.Name, Message: fmt.Sprintf("no policy directory can be named so: %q begins the names of the library's files", libraryName), Hint: "give it another name"}}
		case slices.ContainsFunc(dirs[:i], func(o Dir) bool { return o.Name == d.Name }):
			return nil, Errors{{File: d.name("."), Message: fmt.Sprintf("two policy directories have the name %q", d.Name), Hint: "give each its own name"}}
		}
		if _, nested := d.FS.(joined); nested {
			return nil, Errors{{File: d.name("."), Message: "directories that are joined already", Hint: "pass all of them to one Join"}}
		}
	}
	return dirs, nil
}

// name returns the name of one of the directory's files.
func (d Dir) name(path string) string {
	switch {
	case d.Name == "":
		return path
	case path == ".":
		return d.Name
	}
	return d.Name + "/" + path
}

// failed says that the directory cannot be read.
func (d Dir) failed(err error) error {
	if d.Name == "" {
		return fmt.Errorf("policy directory: %w", err)
	}
	return fmt.Errorf("policy directory %q: %w", d.Name, err)
}

// together finds the directory with the generated files, and refuses what several
// directories cannot be together.
func (s *source) together(dirs []Dir) {
	seen, home := map[string]bool{}, -1
	for _, f := range s.files {
		if seen[f.name] {
			s.faults.addFile(f.name, "files of two policy directories have this name", "give one of the directories another name; if one is inside the other, leave it out")
		}
		seen[f.name] = true
		switch {
		case !f.generated() || f.dir == home:
		case home < 0:
			home, s.home = f.dir, dirs[f.dir]
		default:
			s.faults.addFile(dirs[f.dir].name(generatedDir), fmt.Sprintf("the declarations of the tools are in %s already", s.home.name(generatedDir)),
				"one of the policy directories holds "+generatedDir+": remove it from the others")
		}
	}
}
