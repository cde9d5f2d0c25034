package functions

import (
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestURLs(t *testing.T) {
	for text, want := range map[string]struct {
		scheme, host, port, path string
	}{
		"https://example.com":                      {"https", "example.com", "443", "/"},
		"HTTPS://Example.COM:443/a%20b?q=1#f":      {"https", "example.com", "443", "/a b"},
		"http://example.com./":                     {"http", "example.com", "80", "/"},
		"http://example.com:/":                     {"http", "example.com", "80", "/"},
		"http://example.com:08080//x":              {"http", "example.com", "8080", "//x"},
		"http://good.example#@evil.example/":       {"http", "good.example", "80", "/"},
		"http://evil.example?@good.example/":       {"http", "evil.example", "80", "/"},
		"http://evil.example/@good.example":        {"http", "evil.example", "80", "/@good.example"},
		"http://evil.example/..a/b..":              {"http", "evil.example", "80", "/..a/b.."},
		"http://127.0.0.1:8080/x":                  {"http", "127.0.0.1", "8080", "/x"},
		"http://[::1]/x":                           {"http", "::1", "80", "/x"},
		"http://[0:0:0:0:0:0:0:1]:81/x":            {"http", "::1", "81", "/x"},
		"http://[::FFFF:127.0.0.1]/x":              {"http", "127.0.0.1", "80", "/x"},
		"wss://a_b.example/":                       {"wss", "a_b.example", "443", "/"},
		"ssh://host/x":                             {"ssh", "host", "22", "/x"},
		"odd://host:7/x":                           {"odd", "host", "7", "/x"},
		"http://xn--bcher-kva.example/b%C3%BCcher": {"http", "xn--bcher-kva.example", "80", "/bücher"},
		"http://1password.com/":                    {"http", "1password.com", "80", "/"},
	} {
		u, err := parseURL(text)
		require.NoError(t, err, text)
		path, err := u.cleanPath()
		require.NoError(t, err, text)
		port, err := u.effectivePort()
		require.NoError(t, err, text)
		assert.Equal(t, []string{want.scheme, want.host, want.port, want.path}, []string{u.scheme, u.host, strconv.Itoa(port), path}, text)
		assert.True(t, validURL(text), text)
	}
}

// What rules about parts of a URL would be deceived by has no parts.
// SEMANTICS 7.5.8
func TestURLsThatDeceive(t *testing.T) {
	for text, want := range map[string]string{
		"http://good@evil/":                         "user info",
		"http://good.example:80@evil.example/":      "user info",
		"http://@evil.example/":                     "user info",
		"http://good.example%40evil.example/":       "not a URL",
		"http://good.example\\@evil.example/":       "not a URL",
		"http://evil.example\\.good.example/":       "not a URL",
		"https:\\\\evil.example/":                   "not an absolute URL",
		"https:evil.example":                        "not an absolute URL",
		"https:///evil.example":                     "not an absolute URL",
		"//evil.example/":                           "not an absolute URL",
		"evil.example":                              "not an absolute URL",
		"/etc/passwd":                               "not an absolute URL",
		"file:///etc/passwd":                        "not an absolute URL",
		"javascript:alert(1)":                       "not an absolute URL",
		"":                                          "not an absolute URL",
		" http://good.example/":                     "not a URL",
		"http://good.example\n.evil.example/":       "not a URL",
		"ht\ttp://good.example/":                    "not a URL",
		"http://good.example\x00.evil.example/":     "not a URL",
		"http://evil.example:80:90/":                "not a URL",
		"http://::1/":                               "not a URL",
		"http://[::1/":                              "not a URL",
		"http://[good.example]/":                    "not a URL",
		"http://[fe80::1%25eth0]/":                  "IPv6",
		"http://[127.0.0.1]/":                       "not a URL",
		"http://:80/":                               "empty label",
		"http://./":                                 "empty label",
		"http://a..example/":                        "empty label",
		"http://.example/":                          "empty label",
		"http://example../":                         "empty label",
		"http://ｅvil.example/":                      "character other than",
		"http://\u212Aelvin.example/":               "character other than",
		"http://b%C3%BCcher.example/":               "character other than",
		"http://good.example,evil.example/":         "character other than",
		"http://good.example;evil.example/":         "character other than",
		"http://" + strings.Repeat("a.", 130) + "b": "longer than 253",
		"http://127.1/":                             "ends in a number",
		"http://0177.0.0.1/":                        "ends in a number",
		"http://0x7f.0.0.1/":                        "ends in a number",
		"http://0X7F000001/":                        "ends in a number",
		"http://2130706433/":                        "ends in a number",
		"http://127.0.0.1.1/":                       "ends in a number",
		"http://good.example.1/":                    "ends in a number",
		"http://good.example:65536/":                "no port",
		"http://good.example:0/":                    "no port",
		"http://good.example:99999999999999999999/": "no port",
		"http://good.example:8x/":                   "not a URL",
	} {
		_, err := parseURL(text)
		if assert.ErrorContains(t, err, want, text) {
			assert.False(t, validURL(text), text)
		}
	}
}

// What rules about a path would be deceived by has no path.
// SEMANTICS 7.5.8
func TestPathsThatDeceive(t *testing.T) {
	for _, text := range []string{
		"/a/../b", "/..", "/./a", "/%2e%2e/b", "/public%2F..%2Fadmin", `/public\..\admin`, "/public%5c..%5cadmin", "/a%00b", "/a%0ab", "/a%ffb",
	} {
		u, err := parseURL("http://good.example" + text)
		if err == nil { // what Go refuses has no parts at all
			_, err = u.cleanPath()
		}
		assert.Error(t, err, text)
		assert.False(t, validURL("http://good.example"+text), text)
	}
	u, err := parseURL("odd://host/x")
	require.NoError(t, err)
	_, err = u.effectivePort()
	assert.ErrorContains(t, err, "none is known for the scheme odd")
	assert.False(t, validURL("odd://host/x"))
}

// FuzzURL holds that a host is the one that net/url finds, in one spelling, and
// that the parts are those of the URL that is made of them.
func FuzzURL(f *testing.F) {
	for _, text := range []string{
		"https://example.com:8443/a%20b?q#f", "http://good@evil/", "http://[::ffff:1.2.3.4]:1/", "http://127.1/", "http://A.b./x", "odd://h:1/%2e%2e", "http://ｅ.example",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !validURL(text) {
			return
		}
		got, err := parseURL(text)
		require.NoError(t, err)
		u, err := url.Parse(text)
		require.NoError(t, err)
		require.Nil(t, u.User)
		port, err := got.effectivePort()
		require.NoError(t, err)
		path, err := got.cleanPath()
		require.NoError(t, err)
		host := got.host
		if strings.Contains(host, ":") {
			host = "[" + host + "]"
		} else if !strings.HasPrefix(u.Host, "[") {
			require.Equal(t, strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")), host)
		}
		again, err := parseURL((&url.URL{Scheme: got.scheme, Host: host + ":" + strconv.Itoa(port), Path: path}).String())
		require.NoError(t, err)
		againPort, err := again.effectivePort()
		require.NoError(t, err)
		require.Equal(t, []string{got.scheme, got.host, strconv.Itoa(port), path}, []string{again.scheme, again.host, strconv.Itoa(againPort), again.path})
	})
}
