package process

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// ErrProgramChanged is the error of Program.Open when the file is not what it was.
var ErrProgramChanged = errors.New("process: the program has changed since the executor started")

// A Program is an executable file, as it was when it was found. It is safe for concurrent use.
type Program struct {
	Path   string // absolute, links followed
	SHA256 [sha256.Size]byte

	mu   sync.Mutex
	seen identity
}

// Find finds a program on a PATH, or by its absolute path, and hashes it. A script is refused,
// because the kernel would start its interpreter by a path: declare that instead.
func Find(name, path string) (*Program, error) {
	file, err := lookUp(name, path)
	if err != nil {
		return nil, err
	}
	p := &Program{Path: file}
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("process: %w", err)
	}
	defer f.Close()
	var begin [2]byte
	if n, _ := f.ReadAt(begin[:], 0); n == 2 && bytes.Equal(begin[:], []byte("#!")) {
		return nil, fmt.Errorf("process: %s begins with #!: declare its interpreter as the program, with the script as an argument", file)
	}
	if p.SHA256, err = digest(f); err != nil {
		return nil, err
	}
	p.seen, err = identify(f)
	return p, err
}

// Open returns the file of the program, for the runner to start it by. Where the file is not
// the one that was hashed it is hashed again; the error is ErrProgramChanged when that differs, and
// ErrResources when the host has no descriptor for it.
func (p *Program) Open() (*os.File, error) {
	f, err := os.Open(p.Path)
	switch {
	case err == nil:
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.ENOMEM):
		return nil, fmt.Errorf("%w: %w", ErrResources, err) // of the program it says nothing
	default:
		return nil, fmt.Errorf("%w: %w", ErrProgramChanged, err)
	}
	if err := p.check(f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (p *Program) check(f *os.File) error {
	now, err := identify(f)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if now == p.seen {
		return nil
	}
	sum, err := digest(f)
	if err != nil {
		return err
	}
	if sum != p.SHA256 {
		return fmt.Errorf("%w: %s", ErrProgramChanged, p.Path)
	}
	p.seen = now
	return nil
}

func digest(f *os.File) (sum [sha256.Size]byte, err error) {
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(f, 0, 1<<62)); err != nil {
		return sum, fmt.Errorf("process: %w", err)
	}
	h.Sum(sum[:0])
	return sum, nil
}

// lookUp finds a program. It does not look into the current folder.
func lookUp(name, path string) (string, error) {
	var tried []string
	if filepath.IsAbs(name) {
		tried = []string{name}
	} else if name != "" && !strings.ContainsAny(name, `/\`) {
		for _, dir := range filepath.SplitList(path) {
			if filepath.IsAbs(dir) {
				tried = append(tried, filepath.Join(dir, name))
			}
		}
	}
	for _, file := range tried {
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return filepath.EvalSymlinks(file)
		}
	}
	return "", fmt.Errorf("process: command_not_found: there is no program %q on the PATH %q: install it, or set PATH in env of the command", name, path)
}
