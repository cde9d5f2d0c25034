package author

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/project"
	"github.com/ambit-tools/ambit/dsl"
)

// A state says how a generated file on disk differs from what is declared.
type state uint8

const (
	missing state = iota
	different
	orphaned
)

// found names the state as "generate -check" reports it.
func (s state) found() string { return [...]string{"missing", "different", "orphaned"}[s] }

// done names what "generate" did about it.
func (s state) done() string { return [...]string{"wrote", "wrote", "removed"}[s] }

type change struct {
	name  string // slash path below the declaration's folder
	state state
}

// A tree is the folder of a declaration, opened so that no name and no symbolic
// link leads outside, with the content that generated files should have.
type tree struct {
	root   *os.Root
	source string // path of the declaration
	want   map[string][]byte
	names  []string         // of want, the manifest last
	ours   project.Manifest // what the last run wrote
}

func openTree(d *project.Declaration) (*tree, error) {
	root, err := os.OpenRoot(d.Dir)
	if err != nil {
		return nil, cmdutil.Problem(err.Error(), "")
	}
	t := &tree{root: root, source: d.Path, want: map[string][]byte{}}
	for _, f := range d.Out {
		if f.Name == d.File.EditorSchema && dsl.IsEditorSchema(f.Content) && keepsOwn(root, f.Name) {
			continue
		}
		t.want[f.Name] = f.Content
		t.names = append(t.names, f.Name)
	}
	slices.Sort(t.names)
	name := project.ManifestName(d.Path)
	t.want[name] = project.NewManifest(d.Path, t.names)
	t.names = append(t.names, name)
	if t.ours, err = project.ReadManifest(root, name); err != nil {
		root.Close()
		return nil, err
	}
	return t, nil
}

// keepsOwn reports whether the file that the modeline names is one that the user
// wrote, such as a schema that extends that of ambit.
func keepsOwn(root *os.Root, name string) bool {
	have, err := root.ReadFile(name)
	return err == nil && json.Valid(have) && !dsl.IsEditorSchema(have)
}

func (t *tree) close() { t.root.Close() }

// compare lists what differs. Its error names every file that is in the way
// and was not written by ambit.
func (t *tree) compare() ([]change, error) {
	var (
		changes []change
		foreign []error
	)
	for _, name := range t.names {
		have, err := t.root.ReadFile(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			changes = append(changes, change{name, missing})
		case err != nil:
			foreign = append(foreign, cmdutil.Problem(err.Error(), ""))
		case bytes.Equal(have, t.want[name]):
		case !t.ours.Wrote(name, have):
			foreign = append(foreign, cmdutil.Problem(cmdutil.Quote(name)+" is in the way and was not generated from "+cmdutil.Quote(t.source), "move or delete it, then generate again"))
		default:
			changes = append(changes, change{name, different})
		}
	}
	for _, name := range t.ours.Names() {
		if _, wanted := t.want[name]; wanted {
			continue
		}
		if have, err := t.root.ReadFile(name); err == nil && t.ours.Wrote(name, have) {
			changes = append(changes, change{name, orphaned})
		}
	}
	return changes, errors.Join(foreign...)
}

// apply makes the changes. Every new content is on disk under a temporary name
// before the first file is replaced. The manifest is replaced last, so that an
// interrupted run forgets nothing that an earlier one wrote.
func (t *tree) apply(changes []change) error {
	t.sweep()
	var st staging
	defer st.discard(t.root)
	for _, c := range changes {
		if c.state == orphaned {
			continue
		}
		if err := st.add(t.root, c.name, t.want[c.name]); err != nil {
			return cmdutil.Problem(err.Error(), "nothing was changed")
		}
	}
	if err := st.commit(t.root, project.ManifestName(t.source)); err != nil {
		return err
	}
	if err := t.removeOrphans(changes); err != nil {
		return err
	}
	return st.commit(t.root, "")
}

func (t *tree) removeOrphans(changes []change) error {
	for _, c := range changes {
		if c.state != orphaned {
			continue
		}
		if err := t.root.Remove(c.name); err != nil {
			return cmdutil.Problem(err.Error(), "")
		}
		// A folder that this leaves empty goes too; one that holds anything stays.
		for dir := path.Dir(c.name); dir != "."; dir = path.Dir(dir) {
			if t.root.Remove(dir) != nil {
				break
			}
		}
	}
	return nil
}

// staging holds new contents that are on disk under temporary names.
type staging struct {
	files [][2]string // temporary name, final name
	dirs  []string    // made on the way
}

func (s *staging) add(root *os.Root, name string, content []byte) error {
	if err := s.mkdir(root, path.Dir(name)); err != nil {
		return err
	}
	temp := path.Join(path.Dir(name), "."+path.Base(name)+"."+rand.Text()[:tempSuffix])
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	s.files = append(s.files, [2]string{temp, name})
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}

// tempSuffix is the length of what makes a temporary name unique.
const tempSuffix = 8

// staged returns the final name of the file whose temporary name this is, "" when
// it cannot be one.
func staged(temp string) string {
	dir, base := path.Split(temp)
	cut := len(base) - tempSuffix - 1
	if cut < 2 || base[0] != '.' || base[cut] != '.' || strings.Trim(base[cut+1:], "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") != "" {
		return ""
	}
	return dir + base[1:cut]
}

// abandoned is the age from which on a temporary file is that of a run that was killed.
const abandoned = 10 * time.Minute

// sweep removes what runs that were killed have left under temporary names.
func (t *tree) sweep() {
	dirs := map[string]bool{}
	for _, name := range t.names {
		dirs[path.Dir(name)] = true
	}
	for dir := range dirs {
		entries, err := fs.ReadDir(t.root.FS(), dir)
		if err != nil {
			continue // it may not be there yet; what else is wrong, the run will say
		}
		for _, e := range entries {
			temp := path.Join(dir, e.Name())
			if _, ours := t.want[staged(temp)]; !ours {
				continue
			}
			if info, err := e.Info(); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > abandoned {
				t.root.Remove(temp) //nolint:errcheck // the next run finds what is left
			}
		}
	}
}

func (s *staging) mkdir(root *os.Root, dir string) error {
	if dir == "." {
		return nil
	}
	if err := s.mkdir(root, path.Dir(dir)); err != nil {
		return err
	}
	err := root.Mkdir(dir, 0o755)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err == nil {
		s.dirs = append(s.dirs, dir)
	}
	return err
}

// commit gives the files their final names, in order, up to the one called until.
func (s *staging) commit(root *os.Root, until string) error {
	for len(s.files) > 0 && s.files[0][1] != until {
		f := s.files[0]
		if err := root.Rename(f[0], f[1]); err != nil {
			return cmdutil.Problem(err.Error(), "")
		}
		s.files, s.dirs = s.files[1:], nil
	}
	return nil
}

// discard removes what was staged and not committed.
func (s *staging) discard(root *os.Root) {
	for _, f := range s.files {
		root.Remove(f[0]) //nolint:errcheck // the error to report is the one that came before
	}
	for _, dir := range slices.Backward(s.dirs) {
		root.Remove(dir) //nolint:errcheck // likewise
	}
}
