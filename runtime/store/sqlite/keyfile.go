package sqlite

import (
	"crypto/hmac"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"

	"github.com/ambit-tools/ambit/runtime/store/internal/chain"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// keysLimit is how many bytes the keys file may have.
const keysLimit = 1 << 20

const keyFileVersion = 2

// A keyFile is what the keys file of a store says.
type keyFile struct {
	chain.Secret
	keys map[string][]byte // by name
	head chain.Head
}

// storedKeys is the form of the keys file.
type storedKeys struct {
	Version int               `json:"version"`
	Store   string            `json:"store"`
	Chain   []byte            `json:"chain"`
	Keys    map[string][]byte `json:"keys"`
	Head    *storedHead       `json:"head"`
}

type storedHead struct {
	Size   uint64 `json:"size"`
	Tail   string `json:"tail"`
	Epoch  uint64 `json:"epoch"`
	Rooted uint64 `json:"rooted"`
	Root   string `json:"root"`
	MAC    string `json:"mac"`

	Archived uint64 `json:"archived,omitempty"`
}

// newKeyFile returns the keys of a new store.
func newKeyFile() *keyFile {
	k := &keyFile{keys: map[string][]byte{}}
	_, _ = rand.Read(k.Key[:]) // never fails
	_, _ = rand.Read(k.ID[:])
	k.head.Tail = chain.New(&k.Secret).First()
	return k
}

// encode returns the content of the file. The chain authenticates the head.
func (k *keyFile) encode(c *chain.Chain) ([]byte, error) {
	m := c.Head(&k.head)
	text, err := json.MarshalIndent(storedKeys{
		Version: keyFileVersion, Store: hex.EncodeToString(k.ID[:]), Chain: k.Key[:], Keys: k.keys,
		Head: &storedHead{k.head.Size, hex.EncodeToString(k.head.Tail[:]), k.head.Epoch, k.head.Rooted, hex.EncodeToString(k.head.Root[:]), hex.EncodeToString(m[:]), k.head.Archived},
	}, "", "  ")
	return append(text, '\n'), err
}

// decodeKeys is the reverse of encode.
func decodeKeys(text []byte) (*keyFile, error) {
	var in storedKeys
	whole := wire.Limits{Size: len(text) + 1}
	bad := wire.Unmarshal(text, whole, &in)
	if bad != nil && in.Version <= keyFileVersion {
		if old := map[string][]byte{}; wire.Unmarshal(text, whole, &old) == nil {
			return nil, errors.New("it has the form of an earlier version, which had no key for the entries")
		}
		return nil, errors.New(bad[0].String())
	}
	if in.Version > 0 && in.Version < keyFileVersion {
		return nil, fmt.Errorf("%w: its keys file has version %d and this program knows %d: %s", ErrVersion, in.Version, keyFileVersion, whyFormer)
	}
	if in.Version != keyFileVersion {
		return nil, fmt.Errorf("it has version %d, and this program knows %d", in.Version, keyFileVersion)
	}
	k := &keyFile{keys: in.Keys}
	if k.keys == nil {
		k.keys = map[string][]byte{}
	}
	for name, key := range k.keys {
		if len(key) != chain.KeySize {
			return nil, fmt.Errorf("the key %q has %d bytes, not %d", name, len(key), chain.KeySize)
		}
	}
	if len(in.Chain) != chain.KeySize || in.Head == nil {
		return nil, errors.New("it lacks the key of the chain, or the head")
	}
	copy(k.Key[:], in.Chain)
	var m chain.MAC
	for _, f := range []struct {
		to   []byte
		from string
	}{{k.ID[:], in.Store}, {k.head.Tail[:], in.Head.Tail}, {k.head.Root[:], in.Head.Root}, {m[:], in.Head.MAC}} {
		if n, err := hex.Decode(f.to, []byte(f.from[:min(len(f.from), 2*len(f.to))])); err != nil || n != len(f.to) || len(f.from) != 2*n {
			return nil, fmt.Errorf("%.80q is not %d bytes in hexadecimal", f.from, len(f.to))
		}
	}
	k.head.Size, k.head.Epoch, k.head.Rooted, k.head.Archived = in.Head.Size, in.Head.Epoch, in.Head.Rooted, in.Head.Archived
	if want := chain.New(&k.Secret).Head(&k.head); !hmac.Equal(want[:], m[:]) {
		return nil, errors.New("its head is not signed with its key")
	}
	return k, nil
}

// keysName names the keys file of a store.
func keysName(path string) string { return path + ".keys" }

// readKeys reads a keys file. The error is fs.ErrNotExist when there is none.
func readKeys(file string, disk Disk) (*keyFile, error) {
	text, err := disk.Read(file, 0, keysLimit)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w: there is no file %q: %w", ErrKeys, file, err)
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("read the keys in %q, which are for the owner of that file: %w", file, err)
	case err != nil:
		return nil, fmt.Errorf("read the keys in %q: %w", file, err)
	}
	k, err := decodeKeys(text)
	if errors.Is(err, ErrVersion) {
		return nil, fmt.Errorf("read the keys in %q: %w", file, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: read the keys in %q: %w; restore that file", ErrKeys, file, err)
	}
	return k, nil
}

// clone returns a copy to change.
func (k *keyFile) clone() *keyFile {
	own := *k
	own.keys = maps.Clone(k.keys)
	return &own
}
