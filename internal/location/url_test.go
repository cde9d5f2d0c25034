package location

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
		u, err := ParseURL(text)
		require.NoError(t, err, text)
		path, err := u.Path()
		require.NoError(t, err, text)
		port, err := u.Port()
		require.NoError(t, err, text)
		assert.Equal(t, []string{want.scheme, want.host, want.port, want.path}, []string{u.Scheme, u.Host, strconv.Itoa(port), path}, text)
		assert.True(t, valid(text), text)
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
		_, err := ParseURL(text)
		if assert.ErrorContains(t, err, want, text) {
			assert.False(t, valid(text), text)
		}
	}
}

// What rules about a path would be deceived by has no path.
// SEMANTICS 7.5.8
func TestPathsThatDeceive(t *testing.T) {
	for _, text := range []string{
		"/a/../b", "/..", "/./a", "/%2e%2e/b", "/public%2F..%2Fadmin", `/public\..\admin`, "/public%5c..%5cadmin", "/a%00b", "/a%0ab", "/a%ffb",
	} {
		u, err := ParseURL("http://good.example" + text)
		if err == nil { // what Go refuses has no parts at all
			_, err = u.Path()
		}
		assert.Error(t, err, text)
		assert.False(t, valid("http://good.example"+text), text)
	}
	u, err := ParseURL("odd://host/x")
	require.NoError(t, err)
	_, err = u.Port()
	assert.ErrorContains(t, err, "none is known for the scheme odd")
	assert.False(t, valid("odd://host/x"))
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
		if !valid(text) {
			return
		}
		got, err := ParseURL(text)
		require.NoError(t, err)
		u, err := url.Parse(text)
		require.NoError(t, err)
		require.Nil(t, u.User)
		port, err := got.Port()
		require.NoError(t, err)
		path, err := got.Path()
		require.NoError(t, err)
		host := got.Host
		if strings.Contains(host, ":") {
			host = "[" + host + "]"
		} else if !strings.HasPrefix(u.Host, "[") {
			require.Equal(t, strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")), host)
		}
		again, err := ParseURL((&url.URL{Scheme: got.Scheme, Host: host + ":" + strconv.Itoa(port), Path: path}).String())
		require.NoError(t, err)
		againPort, err := again.Port()
		require.NoError(t, err)
		require.Equal(t, []string{got.Scheme, got.Host, strconv.Itoa(port), path}, []string{again.Scheme, again.Host, strconv.Itoa(againPort), again.path})
	})
}

// valid says that every question about a URL has an answer.
func valid(text string) bool {
	u, err := ParseURL(text)
	if err != nil {
		return false
	}
	_, pathErr := u.Path()
	_, portErr := u.Port()
	return pathErr == nil && portErr == nil
}

// SEMANTICS 5.3.13
func TestWithin(t *testing.T) {
	const place = "https://docs.example.com/guide"
	for text, want := range map[string]bool{
		"https://docs.example.com/guide":                  true,
		"https://docs.example.com/guide/":                 true,
		"https://docs.example.com/guide/a":                true,
		"https://docs.example.com/guide/a%20b?q=../..#f":  true,
		"HTTPS://DOCS.Example.com./guide/a":               true,
		"https://docs.example.com:443/guide/a":            true,
		"https://docs.example.com/guide/@a":               true,
		"https://docs.example.com/guidebook":              false,
		"https://docs.example.com/Guide/a":                false,
		"https://docs.example.com/":                       false,
		"https://docs.example.com":                        false,
		"http://docs.example.com/guide/a":                 false,
		"https://docs.example.com:8443/guide/a":           false,
		"https://docs.example.com.evil.example/guide":     false,
		"https://evil.example/docs.example.com/guide":     false,
		"https://user@docs.example.com/guide/a":           false,
		"https://docs.example.com@evil.example/guide/a":   false,
		"https://docs.example.com:443@evil.example/guide": false,
		"https://docs.example.com%40evil.example/guide":   false,
		`https://docs.example.com\@evil.example/guide/a`:  false,
		`https:\\docs.example.com/guide/a`:                false,
		"https://docs.example.com/guide/../admin":         false,
		"https://docs.example.com/guide/%2e%2e/admin":     false,
		"https://docs.example.com/guide/%252e%252e/admin": false,
		"https://docs.example.com/guide/..%2fadmin":       false,
		`https://docs.example.com/guide/..\admin`:         false,
		"https://docs.example.com/guide/..;/admin":        false,
		"https://docs.example.com/guide/./a":              false,
		"https://docs.example.com/guide//a":               false,
		"https://docs.example.com//guide/a":               false,
		"https://docs.example.com/guide/a//":              false,
		"https://docs.example.com/guide/a%00":             false,
		"https://docs.example.com/guide/a\x00":            false,
		"https://docs.example.com/guide%2Fa":              false,
		"https://docs.example.com/guide;v=1/a":            false,
		"https://d\u03BFcs.example.com/guide/a":           false,
		"https://xn--dcs-lfc.example.com/guide/a":         false,
		"https://docs.example\u3002com/guide/a":           false,
		"//docs.example.com/guide/a":                      false,
		"/guide/a":                                        false,
		" https://docs.example.com/guide/a":               false,
		"view-source:https://docs.example.com/guide/a":    false,
		"": false,
	} {
		assert.Equal(t, want, within(t, text, place), text)
	}
	for text, want := range map[string]bool{
		"https://docs.example.com?q=1":                     true,
		"https://docs.example.com#a":                       true,
		"https://docs.example.com?@evil.example/":          false,
		"https://docs.example.com#@evil.example/":          false,
		`https://docs.example.com?\@evil.example/`:         false,
		"https://docs.example.com//evil.example/":          false,
		"https://docs.example.com//":                       false,
		"https://docs.example.com/?next=https://a.example": true,
	} {
		assert.Equal(t, want, within(t, text, "https://docs.example.com"), text)
	}
	assert.True(t, within(t, "https://[0:0::1]:8443/a", "https://[::1]:8443/"))
	assert.True(t, within(t, "s3://bucket/a/b", "s3://bucket/a"), "a scheme without a known port")
	assert.False(t, within(t, "s3://bucket:1/a/b", "s3://bucket/a"))
}

func within(t *testing.T, text, place string) bool {
	at, err := ParsePlainURL(place)
	require.NoError(t, err)
	u, err := ParsePlainURL(text)
	return err == nil && u.Within(at)
}
