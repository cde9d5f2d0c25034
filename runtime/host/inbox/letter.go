package inbox

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// MaxCommand is how many bytes the file of a command has at most.
const MaxCommand = 64 << 10

// version is that of the files. It is signed with what they say.
const version = "ambit inbox v1"

// keyName is the name of the key that commands are signed with.
const keyName = "inbox"

// A Store is what an inbox belongs to: a [sqlite.Store] in the process that serves it,
// a [sqlite.Reader] in every other.
//
// [sqlite.Store]: https://pkg.go.dev/github.com/ambit-tools/ambit/runtime/store/sqlite#Store
// [sqlite.Reader]: https://pkg.go.dev/github.com/ambit-tools/ambit/runtime/store/sqlite#Reader
type Store interface {
	journal.Keeper

	// Path returns the name of the file of the store.
	Path() string
}

// Dir returns the directory of the inbox of a store.
func Dir(s Store) string { return s.Path() + ".inbox" }

// A letter is the file of a command.
type letter struct {
	Version string          `json:"version"`
	Command json.RawMessage `json:"command"`
	MAC     string          `json:"mac"` // of the bytes of Command
}

// sign returns the signature of a command.
func sign(key, command []byte) string {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(version + "\n"))
	m.Write(command)
	return hex.EncodeToString(m.Sum(nil))
}

// seal returns the file of a command.
func seal(key []byte, c *Command) ([]byte, error) {
	command, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(letter{version, command, sign(key, command)})
	if err != nil {
		return nil, err
	}
	if len(text) > MaxCommand {
		return nil, fmt.Errorf("the command has %d bytes, which is more than %d: give a shorter reason, or edit less", len(text), MaxCommand)
	}
	return text, unpack(text, new(letter))
}

// unpack reads a JSON text that is an object of the members of v.
func unpack(text []byte, v any) error {
	if bad := wire.Unmarshal(text, wire.Limits{Size: MaxCommand}, v); bad != nil {
		return fmt.Errorf("it is no command: %s", bad[0])
	}
	return nil
}

// open returns the command of a file.
func open(key, text []byte) (c Command, err error) {
	var l letter
	if err := unpack(text, &l); err != nil {
		return c, err
	}
	if l.Version != version {
		return c, fmt.Errorf("it is of version %q, and this executor imports %q: use the ambit of the application's version", l.Version, version)
	}
	if !hmac.Equal([]byte(l.MAC), []byte(sign(key, l.Command))) {
		return c, errors.New("it is not signed with the key of the store")
	}
	if err := unpack(l.Command, &c); err != nil {
		return c, err
	}
	if c.Nonce == "" || c.By == "" {
		return c, errors.New("it has no nonce, or does not say who gives it")
	}
	c.MAC = l.MAC
	return c, nil
}
