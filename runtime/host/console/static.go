package console

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"net/http"
	"strings"
)

var (
	//go:embed static/console.css
	styleText []byte
	//go:embed static/console.js
	scriptText []byte
	//go:embed static/icon.svg
	iconText []byte

	styleSheet = newAsset("console.css", "text/css; charset=utf-8", styleText)
	script     = newAsset("console.js", "text/javascript; charset=utf-8", scriptText)
	icon       = newAsset("icon.svg", "image/svg+xml", iconText)
)

// An asset is a file that pages refer to. Its path names its content, so that a browser keeps it.
type asset struct {
	path, kind string // the path is below the prefix
	data       []byte
}

func newAsset(name, kind string, data []byte) asset {
	sum := sha256.Sum256(data)
	return asset{"/static/" + hex.EncodeToString(sum[:8]) + "/" + name, kind, data}
}

// isAsset reports whether a request is for an asset.
func isAsset(l links, r *http.Request) bool {
	return r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, l.prefix+"/static/")
}

// serveAsset answers a request for an asset.
func serveAsset(w http.ResponseWriter, r *http.Request) {
	for _, a := range []asset{styleSheet, script, icon} {
		if strings.HasSuffix(r.URL.Path, a.path) {
			w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
			w.Header().Set("Content-Type", a.kind)
			_, _ = w.Write(a.data) // the client is gone otherwise
			return
		}
	}
	http.Error(w, "there is no such file", http.StatusNotFound)
}
