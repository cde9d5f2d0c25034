package content

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"github.com/ambit-tools/ambit/runtime/internal/disk"
)

// A Store keeps contents by their hash. Its methods are safe for concurrent use.
// One process at a time may use a directory.
type Store struct {
	dir  disk.Dir
	path string // empty: not on this machine

	// A content is put under the read side: Prune, which holds the other one,
	// cannot remove what a Put has just found to be there.
	gate sync.RWMutex

	mu     sync.Mutex
	recent map[string]time.Time // what is known to be durable, by hash, and when it was last used
	shards map[string]bool      // directories known to be durable
	broken error
}

// remembered is how many contents a store remembers to be durable.
const remembered = 4096

// Open opens the store in a directory, which is made if it does not exist.
func Open(dir string) (*Store, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := disk.MakeDir(path); err != nil {
		return nil, fmt.Errorf("cannot make the directory of the content store %q: %w", path, err)
	}
	d, err := disk.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot open the content store %q: %w", path, err)
	}
	s := On(d)
	s.path = path
	if err := s.makeShards(); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot make the directories of the content store %q: %w", path, err), d.Close())
	}
	return s, nil
}

// OpenReader opens the store in a directory that there is, and makes nothing. It
// is for those who only read, also while another process uses the directory.
func OpenReader(dir string) (*Store, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	d, err := disk.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot open the content store %q: %w", path, err)
	}
	s := On(d)
	s.path = path
	return s, nil
}

// makeShards makes all directories that contents are in, durably, so that no Put
// has to.
func (s *Store) makeShards() error {
	for i := range 256 {
		if err := s.dir.Mkdir(shardName(i), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	if err := s.sync(disk.SyncDir{Dir: s.dir, Name: "."}); err != nil {
		return err
	}
	for i := range 256 {
		s.shards[shardName(i)] = true
	}
	return nil
}

func shardName(i int) string { return fmt.Sprintf("%02x", i) }

// On returns the store in a directory of any disk. It is for tests of this
// module; a program uses Open.
func On(dir disk.Dir) *Store {
	return &Store{dir: dir, recent: map[string]time.Time{}, shards: map[string]bool{}}
}

// Path returns the directory of the store.
func (s *Store) Path() string { return s.path }

// Close closes the directory.
func (s *Store) Close() error { return s.dir.Close() }

// sync makes files or directories durable. Once that fails, nothing that the
// store would promise is worth anything: it promises nothing any more.
func (s *Store) sync(list ...disk.Syncer) error {
	err := disk.All(list...)
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.broken == nil {
			s.broken = fmt.Errorf("%w: %w", ErrBroken, err)
		}
		return s.broken
	}
	return nil
}

// usable fails once a sync has failed.
func (s *Store) usable() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.broken
}

// fresh says whether a content is durable and was used a moment ago.
func (s *Store) fresh(ref Ref, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.recent[ref.SHA256]
	return ok && now.Sub(at) < slack/2
}

// there says whether a content is there, if not that it is whole.
func (s *Store) there(ref Ref) bool {
	name, _ := ref.file()
	info, err := s.dir.Lstat(name)
	return err == nil && info.Size() == ref.Size
}

// remember notes that contents are durable, and the directories that they are in.
func (s *Store) remember(now time.Time, refs ...Ref) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.recent) > remembered {
		clear(s.recent)
	}
	for _, ref := range refs {
		_, shard := ref.file()
		s.recent[ref.SHA256], s.shards[shard] = now, true
	}
}

// forget drops what was known of a content.
func (s *Store) forget(hash string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.recent, hash)
}
