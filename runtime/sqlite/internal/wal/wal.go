// Package wal finds damage in a write-ahead log of SQLite, which SQLite itself takes for
// the end of the log.
package wal

import (
	"bytes"
	"encoding/binary"
	"maps"
)

// The layout of a log is that of https://sqlite.org/fileformat2.html#walformat.

// HeaderSize is how many bytes of a log are before its first frame.
const HeaderSize = 32

// PageSize is the size of a page of a store in bytes.
const PageSize = 4096

const (
	frameHead = 24 // bytes of a frame before its page
	frameSize = frameHead + PageSize
)

// Damage returns where a log is damaged, when that is not what a crash leaves. A
// transaction is synced before the next one is begun: where a frame follows a commit
// all before it was on the disk. A frame goes on with the checksum of the one before,
// so that nothing that is left of earlier logs, or was rolled back, looks like that.
// In the last transactions damage cannot be told from a crash.
func Damage(log []byte, page func(n uint32) ([]byte, error)) (at int, damaged bool, err error) {
	if len(log) < HeaderSize {
		return 0, false, nil
	}
	order := binary.ByteOrder(binary.LittleEndian)
	if log[3]&1 != 0 {
		order = binary.BigEndian
	}
	if follows(order, make([]byte, 8), log[:frameHead], nil, log[frameHead:HeaderSize]) {
		at, damaged = gapIn(order, log)
		return at, damaged, nil
	}
	damaged, err = unsaved(order, log, page)
	return 0, damaged, err
}

// gapIn returns where the first frame is that is not whole and has a transaction
// behind it.
func gapIn(order binary.ByteOrder, log []byte) (at int, damaged bool) {
	var last []byte // nil: it is not whole, or no commit
	before := log[frameHead:HeaderSize]
	for off := HeaderSize; off+frameSize <= len(log); off += frameSize {
		f := log[off : off+frameSize]
		whole := bytes.Equal(f[8:16], log[16:24]) && follows(order, before, f[:8], f[frameHead:], f[16:frameHead])
		switch {
		case whole && at != 0 && last != nil && !repeats(f, last):
			return at, true
		case !whole && at == 0:
			at = off
		}
		if before, last = f[16:frameHead], nil; whole && binary.BigEndian.Uint32(f[4:]) != 0 {
			last = f
		}
	}
	return 0, false
}

// unsaved reports whether a log whose head is not whole has pages that the file has
// not. A crash may tear the head when it is written anew: the file has all by then.
func unsaved(order binary.ByteOrder, log []byte, page func(n uint32) ([]byte, error)) (bool, error) {
	pages, latest, size := map[uint32][]byte{}, map[uint32][]byte{}, uint32(0)
	var last []byte
	for off := HeaderSize; off+frameSize <= len(log); off += frameSize {
		f := log[off : off+frameSize]
		if last != nil && (!bytes.Equal(f[8:16], last[8:16]) || !follows(order, last[16:frameHead], f[:8], f[frameHead:], f[16:frameHead])) {
			break
		}
		pages[binary.BigEndian.Uint32(f)], last = f[frameHead:], f
		if n := binary.BigEndian.Uint32(f[4:]); n != 0 {
			size = n
			maps.Copy(latest, pages)
			clear(pages)
		}
	}
	for n, want := range latest {
		if n == 0 || n > size {
			continue // no page, or one that a later transaction has cut off
		}
		if have, err := page(n); err != nil || !bytes.Equal(want, have) {
			return err == nil, err
		}
	}
	return false, nil
}

// repeats reports whether a frame is the one before it once more, as a transaction
// ends where sectors are not written by themselves.
func repeats(f, last []byte) bool {
	return bytes.Equal(f[:8], last[:8]) && bytes.Equal(f[frameHead:], last[frameHead:])
}

// follows reports whether sum is the checksum of two texts that goes on with another one.
func follows(order binary.ByteOrder, before, first, second, sum []byte) bool {
	a, b := binary.BigEndian.Uint32(before), binary.BigEndian.Uint32(before[4:])
	for _, text := range [][]byte{first, second} {
		for ; len(text) >= 8; text = text[8:] {
			a += order.Uint32(text) + b
			b += order.Uint32(text[4:]) + a
		}
	}
	return a == binary.BigEndian.Uint32(sum) && b == binary.BigEndian.Uint32(sum[4:])
}
