package sqlite

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// ErrOwned says that another process owns the store.
var ErrOwned = errors.New("another process owns the store")

// again is how long a waiting Open leaves the lock alone.
const again = 20 * time.Millisecond

// acquire takes the lock of a store, for which it waits as configured.
func acquire(path string, o options) (unlock func() error, err error) {
	host, _ := os.Hostname() // only told to people
	note := fmt.Sprintf("process %d on host %s since %s\n", os.Getpid(), host, time.Now().UTC().Format(time.RFC3339))
	for end := time.Now().Add(o.wait); ; {
		unlock, holder, err := o.disk.Lock(path+".lock", []byte(note))
		if err != nil {
			return nil, fmt.Errorf("open the store %q: %w", path, err)
		}
		if unlock != nil {
			return unlock, nil
		}
		left := time.Until(end)
		if left <= 0 {
			return nil, fmt.Errorf("open the store %q: %w: %s; stop that process, or wait for it (sqlite.WithWait), or read only (sqlite.OpenReader)",
				path, ErrOwned, strings.TrimSpace(string(holder)))
		}
		time.Sleep(min(left, again))
	}
}
