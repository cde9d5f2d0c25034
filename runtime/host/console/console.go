package console

import (
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"

	"github.com/ambit-tools/ambit/runtime/host"
)

// Options say how a console is mounted. The zero value serves it at /.
type Options struct {
	Prefix string // of the paths of its pages, such as /ambit; empty: the pages begin at /
	Title  string // of the application, which each page names; empty: Ambit
	// Out receives the URL that signs the user of this process in, once; nil: os.Stderr.
	Out io.Writer
	// Report is told of pages that could not be made. It may be called from several goroutines at a
	// time. The default writes to slog.Default.
	Report func(error)
}

// Mount returns what host.Serve.Mount takes: a function that makes a console of the host. The host needs
// a store of its own.
func Mount(o Options) func(h *host.Host) (pattern string, handler http.Handler) {
	return func(h *host.Host) (string, http.Handler) {
		prefix := strings.TrimRight(o.Prefix, "/")
		p := &pages{
			host: h, exec: h.Executor, store: h.Store, link: links{prefix}, title: cmp.Or(o.Title, "Ambit"), report: o.Report,
		}
		if p.report == nil {
			p.report = func(err error) { slog.Error("console", "error", err) }
		}
		out := o.Out
		if out == nil {
			out = os.Stderr
		}
		if url := h.OwnLoginURL(p.link.Home()); url != "" {
			_, _ = fmt.Fprintf(out, "console: open %s to sign in, once and within five minutes\n", url) // without a reader it is lost
		}
		return prefix + "/", &console{p, newMux(p)}
	}
}
