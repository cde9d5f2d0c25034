package audit

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/ambit-tools/ambit/runtime/internal/ownfile"
)

// PublicSuffix is what is added to the name of a signer's file to name that of
// its verifier.
const PublicSuffix = ".pub"

// GenerateKey makes a new Ed25519 key, in the text form of the note package. The
// name is the origin of the log: it tells its notes from those of other logs, for
// example "agents.example.com/prod". It has neither spaces nor a plus sign. A program
// that has the signer can sign; the verifier is public.
func GenerateKey(name string) (signer, verifier string, err error) {
	signer, verifier, err = note.GenerateKey(rand.Reader, name)
	if err != nil {
		return "", "", fmt.Errorf("no key for %q: %w", name, err)
	}
	if _, err := note.NewVerifier(verifier); err != nil || strings.ContainsFunc(name, control) {
		return "", "", fmt.Errorf("%q cannot name a key: use a name without spaces, plus signs and control characters", name)
	}
	return signer, verifier, nil
}

func control(r rune) bool { return r < ' ' || r == 0x7f }

// WriteKeys stores a new key: the signer in a file that only its owner may read,
// and the verifier in the file of that name with PublicSuffix. It overwrites
// neither: what an old key has signed can be verified only with it.
func WriteKeys(path, signer, verifier string) error {
	if err := writeNew(path+PublicSuffix, verifier, 0o644); err != nil {
		return err
	}
	if err := writeNew(path, signer, 0o600); err != nil {
		return errors.Join(err, os.Remove(path+PublicSuffix))
	}
	return syncFolder(filepath.Dir(path))
}

// writeNew writes a file that is not there yet.
func writeNew(path, text string, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("the key %q is there already and is not overwritten: choose another name: %w", path, fs.ErrExist)
	}
	if err != nil {
		return fmt.Errorf("the key: %w", err)
	}
	_, err = f.WriteString(text + "\n")
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(fmt.Errorf("the key: %w", err), os.Remove(path))
	}
	return nil
}

// OpenSigner reads the file of a signer. For a new log, which has no entries yet, it makes
// a key with the name origin when the file is absent or empty; a log with entries whose
// key is missing is an error, because another key could not continue it.
func OpenSigner(path, origin string, newLog bool) (note.Signer, error) {
	signer, err := ReadSigner(path)
	switch {
	case err == nil:
		return signer, nil
	case !newLog && errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("the key %q, which signs the audit log, is gone: put it back from where a copy of it is kept: %w", path, err)
	case !newLog || !NoSigner(path):
		return nil, err
	}
	secret, public, err := GenerateKey(origin)
	if err != nil {
		return nil, err
	}
	// A process that was killed while it made the key may have left files. They have signed nothing.
	for _, name := range []string{path, path + PublicSuffix} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("the key: %w", err)
		}
	}
	if err := WriteKeys(path, secret, public); err != nil {
		return nil, err
	}
	return ReadSigner(path)
}

// NoSigner reports whether OpenSigner makes a key for a new log: its file is absent or empty.
func NoSigner(path string) bool {
	info, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular() && info.Size() == 0
}

// ReadSigner reads the file of a signer. It refuses one that other users may read.
func ReadSigner(path string) (note.Signer, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the signing key %q is not there: put back the file that the log was signed with, which no backup of a store has: %w", path, fs.ErrNotExist)
	}
	if err != nil {
		return nil, fmt.Errorf("the key: %w", err)
	}
	if err := ownfile.Regular(path); err != nil {
		return nil, fmt.Errorf("the key: %w", err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && goruntime.GOOS != "windows" {
		return nil, fmt.Errorf("the key %q may be read by others (mode %04o): run chmod 600 on it, or make a new one if somebody has", path, mode)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the key: %w", err)
	}
	s, err := note.NewSigner(strings.TrimSpace(string(text)))
	if err != nil {
		return nil, fmt.Errorf("%q is not the signer of a key: %w", path, err)
	}
	return s, nil
}

// ReadVerifier reads the file of a verifier.
func ReadVerifier(path string) (note.Verifier, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the verifier %q is not there: it was written beside the signing key, as KEY%s: %w", path, PublicSuffix, fs.ErrNotExist)
	}
	if err != nil {
		return nil, fmt.Errorf("the key: %w", err)
	}
	v, err := note.NewVerifier(strings.TrimSpace(string(text)))
	if err != nil {
		return nil, fmt.Errorf("%q is not the verifier of a key: %w", path, err)
	}
	return v, nil
}
