package workspace

// An Option changes how a Workspace is opened.
type Option func(*options)

type options struct {
	logs      string
	maxFile   int64
	protect   []string
	unprotect []string
}

// defaultMaxFile is how large a file may be that a tool changes, in bytes.
const defaultMaxFile = 256 << 20

// UndoLogs sets the directory of the undo logs. By default it is undo, in the parent
// directory of the content store.
func UndoLogs(dir string) Option { return func(o *options) { o.logs = dir } }

// MaxFile sets how large a file may be, in bytes, that a tool changes: it is
// held in memory, and its content is kept. The default is 256 MiB.
func MaxFile(bytes int64) Option { return func(o *options) { o.maxFile = bytes } }
