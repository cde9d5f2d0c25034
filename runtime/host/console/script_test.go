package console

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
)

// TestScript: the script is short, makes no markup, evaluates no text, and asks this host alone; it hears of every
// kind of event that the stream sends.
func TestScript(t *testing.T) {
	const most = 400
	text := string(scriptText)
	assert.LessOrEqual(t, bytes.Count(scriptText, []byte("\n")), most, "lines")
	for _, word := range []string{"innerHTML", "outerHTML =", "insertAdjacent", "document.write", "eval(", "Function(", "setAttribute", "http:", "https:", "localStorage", "cookie"} {
		assert.NotContains(t, text, word)
	}
	kinds := regexp.MustCompile(`(?s)const kinds = \[(.*?)\];`).FindStringSubmatch(text)
	require.Len(t, kinds, 2)
	for kind := runtime.EventInvoked; strings.HasPrefix(kind.String(), "tool.") || strings.HasPrefix(kind.String(), "approval."); kind++ {
		assert.Contains(t, kinds[1], `"`+kind.String()+`"`)
	}
}

// TestAssets: what pages refer to is served to everybody under a path that names its content, so that a browser
// may keep it.
func TestAssets(t *testing.T) {
	for link, kind := range map[string]string{links{"/x"}.Script(): "text/javascript; charset=utf-8", links{"/x"}.Style(): "text/css; charset=utf-8", links{"/x"}.Icon(): "image/svg+xml"} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, link, nil)
		require.True(t, isAsset(links{"/x"}, r))
		serveAsset(w, r)
		assert.Equal(t, http.StatusOK, w.Code, link)
		assert.Equal(t, kind, w.Header().Get("Content-Type"))
		assert.Contains(t, w.Header().Get("Cache-Control"), "immutable")
	}
}
