package workspace

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"

	"github.com/ambit-tools/ambit/runtime/content"
	"github.com/ambit-tools/ambit/runtime/internal/disk"
)

// An undo log is a file of records: the length of the text, 4 bytes, its CRC-32C,
// 4 bytes, both little-endian, and the text, JSON. The first one is the head.
// Each is durable before what it is about is done. What follows the last whole
// record was being written when the power went, and nothing was done yet.

const (
	logVersion = 1
	logSuffix  = ".undo"
	endSuffix  = ".drift" // what a rollback could not restore
	headBytes  = 8
	maxRecord  = 1 << 20
)

// A record is a line of an undo log; which fields are set depends on what it says.
type record struct {
	Version int    `json:"version,omitempty"` // the head
	Session string `json:"session,omitempty"`
	Call    string `json:"call,omitempty"`
	Undo    bool   `json:"undo,omitempty"` // the transaction is that of the call's undo

	Path   string `json:"path,omitempty"` // a change is about to be made
	Before State  `json:"before,omitzero"`
	After  State  `json:"after,omitzero"`
	Temp   string `json:"temp,omitempty"` // the name that it has until then, in the same directory

	Sealed bool `json:"sealed,omitempty"` // all changes are durable
}

// logName returns the name of the log of a call, without its ending.
func logName(key Key) string {
	text := fmt.Appendf(nil, "%d:%s%s", len(key.Session), key.Session, key.Call)
	if key.Undo {
		text = fmt.Appendf(nil, "undo:%s", text)
	}
	return content.RefOf(text).SHA256[:32]
}

// crcTable returns the table of CRC-32C.
func crcTable() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// encode returns a record as it is stored.
func (r *record) encode() ([]byte, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	if len(text) > maxRecord {
		what, name := "path", r.Path
		if name == "" {
			what, name = "call", r.Call
		}
		return nil, fmt.Errorf("%s %.64q: its record in the undo log has %d bytes, at most %d are possible: use shorter ids and paths", what, name, len(text), maxRecord)
	}
	b := binary.LittleEndian.AppendUint32(make([]byte, 0, headBytes+len(text)), uint32(len(text)))
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(text, crcTable()))
	return append(b, text...), nil
}

// next returns the text of the record that data begins with, nil when there is no
// whole one.
func next(data []byte) []byte {
	if len(data) < headBytes {
		return nil
	}
	n := binary.LittleEndian.Uint32(data)
	if n == 0 || n > maxRecord || int(n) > len(data)-headBytes {
		return nil
	}
	text := data[headBytes : headBytes+n]
	if crc32.Checksum(text, crcTable()) != binary.LittleEndian.Uint32(data[4:]) {
		return nil
	}
	return text
}

// decode returns the whole records of a log. A whole record behind one that is
// not means that the log was damaged, not that it was being written.
func decode(data []byte) ([]record, error) {
	var list []record
	for {
		text := next(data)
		if text == nil {
			break
		}
		var r record
		if err := json.Unmarshal(text, &r); err != nil {
			return nil, fmt.Errorf("record %d: %w: %w", len(list), err, ErrCorrupt)
		}
		list, data = append(list, r), data[headBytes+len(text):]
	}
	for i := 1; i < len(data); i++ {
		if next(data[i:]) != nil {
			return nil, fmt.Errorf("record %d is damaged and another follows: %w", len(list), ErrCorrupt)
		}
	}
	if len(list) > 0 && list[0].Version != logVersion {
		return nil, fmt.Errorf("the undo log has version %d, this program reads version %d: use the program that wrote it", list[0].Version, logVersion)
	}
	return list, nil
}

// key returns the call that a log is of.
func (r *record) key() Key { return Key{Session: r.Session, Call: r.Call, Undo: r.Undo} }

// An undoLog is the log of a call that is running.
type undoLog struct {
	ws   *Workspace
	name string
	file disk.File
	made bool // its name is durable
}

// newLog begins the log of a call.
func (w *Workspace) newLog(key Key) (*undoLog, error) {
	l := &undoLog{ws: w, name: logName(key) + logSuffix}
	f, err := w.logs.Open(l.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("call %q: %w", key.Call, ErrUnsettled)
	}
	if err != nil {
		return nil, fmt.Errorf("call %q: cannot begin the undo log: %w", key.Call, err)
	}
	l.file = f
	head := record{Version: logVersion, Session: key.Session, Call: key.Call, Undo: key.Undo}
	if err := l.write(&head); err != nil {
		return nil, errors.Join(err, f.Close(), w.logs.Remove(l.name))
	}
	return l, nil
}

// write appends a record, which is not durable yet.
func (l *undoLog) write(r *record) error {
	b, err := r.encode()
	if err != nil {
		return err
	}
	if _, err := l.file.Write(b); err != nil {
		return fmt.Errorf("cannot write the undo log: %w", err)
	}
	return nil
}

// sync makes all records durable, together with some directories.
func (l *undoLog) sync(more ...disk.Syncer) error {
	list := append([]disk.Syncer{l.file}, more...)
	if !l.made {
		list = append(list, disk.SyncDir{Dir: l.ws.logs, Name: "."})
	}
	if err := l.ws.sync(list...); err != nil {
		return err
	}
	l.made = true
	return nil
}

// readLog reads the log of a call; there may be none.
func (w *Workspace) readLog(name string) (list []record, found bool, err error) {
	f, err := w.logs.Open(name, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("undo log %q: %w", name, err)
	}
	data, err := io.ReadAll(f)
	if err = errors.Join(err, f.Close()); err == nil {
		list, err = decode(data)
	}
	if err != nil {
		return nil, false, fmt.Errorf("undo log %q: %w", name, err)
	}
	return list, true, nil
}

// dropLog removes the log of a call for good.
func (w *Workspace) dropLog(name string) error {
	if err := w.usable(); err != nil {
		return err
	}
	return w.owner.hold(func() error {
		if err := w.logs.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cannot remove the undo log %q: %w", name, err)
		}
		return w.sync(disk.SyncDir{Dir: w.logs, Name: "."})
	})
}
