package inbox

import (
	"errors"
	"io/fs"
	"os"
	"os/user"
)

// superuser returns nothing: the system has no user of that kind.
func superuser() string { return "" }

// currentUser returns the name of the user of this process.
func currentUser() (string, error) {
	u, err := user.Current()
	if err != nil {
		return "", err
	}
	return u.Username, nil
}

// checkOwner does nothing: who could make the file could read the key.
func checkOwner(fs.FileInfo, string) error { return nil }

// openCommand opens a file to read it, if it is one.
func openCommand(path string) (*os.File, error) {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, errNoFile)
	}
	return os.Open(path)
}

// checkMode does nothing: the mode does not say who may write.
func checkMode(fs.FileInfo) error { return nil }
