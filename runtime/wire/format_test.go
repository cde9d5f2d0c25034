package wire_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/runtime/wire"
)

var formats = []struct {
	format  wire.Format
	yes, no []string
}{
	{wire.FormatDateTime, []string{
		"2026-11-20T10:00:00Z", "1963-06-19T08:30:06.283185Z", "1937-01-01T12:00:27.87+00:20", "1990-12-31T15:59:50.123-08:00",
		"1963-06-19t08:30:06.283185z", "1998-12-31T23:59:60Z", "1998-12-31T15:59:60.123-08:00", "1999-01-01T05:29:60+05:30",
		"2016-06-30T23:59:60Z", "2000-02-29T00:00:00Z", "0000-01-01T00:00:00Z", "2026-01-01T00:00:00-00:00", "2016-12-31T00:00:60-23:59",
	}, []string{
		"", "2026-11-20", "2026-11-20 10:00:00Z", "2026-11-20T10:00:00", "1998-12-31T23:59:61Z", "1998-12-31T23:58:60Z", "1998-12-31T22:59:60Z",
		"1998-12-30T23:59:60Z", "1999-01-02T05:29:60+05:30", "1990-02-31T15:59:59.123-08:00", "1990-12-31T15:59:59-24:00", "1963-06-19T08:30:06.28123+01:00Z",
		"06/19/1963 08:30:06 PST", "2013-350T01:01:01", "1963-6-19T08:30:06.283185Z", "1963-06-1T08:30:06.283185Z", "1963-06-1৪T00:00:00Z",
		"1963-06-11T0৪:00:00Z", "2026-11-20T10:00:00.Z", "2026-11-20T10:00Z", "+2026-11-20T10:00:00Z", "2100-02-29T00:00:00Z", "2026-11-20T24:00:00Z",
		"2026-11-20T10:60:00Z", "2026-11-20T10:00:00+1:00", "2026-11-20T10:00:00+01", "2026-11-20T10:00:00+01:60", "2026-11-20T10:00:00Z\n", "2026-11-20T",
	}},
	{wire.FormatDate, []string{
		"1963-06-19", "2020-01-31", "2021-02-28", "2020-02-29", "2000-02-29", "2020-04-30", "2020-08-31", "2020-12-31", "2020-07-31", "2020-09-30",
	}, []string{
		"", "2020-01-32", "2021-02-29", "2020-02-30", "1900-02-29", "2020-04-31", "2020-06-31", "2020-09-31", "2020-11-31", "2020-00-01", "2020-13-01",
		"2020-01-00", "06/19/1963", "2013-350", "1998-1-20", "1998-01-1", "1998-13-01", "2020-11-20T", " 2020-11-20", "20201120", "2020-W01", "2020-W01-1",
		"2020-W53-", "-0001-01-01", "২০২০-01-01",
	}},
	{wire.FormatTime, []string{
		"08:30:06Z", "23:59:60Z", "23:59:60+00:00", "01:29:60+01:30", "23:29:60+23:30", "15:59:60-08:00", "00:29:60-23:30", "23:20:50.52Z",
		"08:30:06.283185Z", "08:30:06+00:20", "08:30:06-08:00", "08:30:06z", "00:00:00+23:59", "12:00:00.000000000000000000001Z",
	}, []string{
		"", "008:030:006Z", "8:30:6Z", "8:3:6Z", "08:30Z", "22:59:60Z", "23:58:60Z", "22:59:60+00:00", "23:59:60+01:00", "23:59:60+00:30", "23:59:60-01:00",
		"24:00:00Z", "00:60:00Z", "00:00:61Z", "01:02:03+24:00", "01:02:03+00:60", "01:02:03Z+00:30", "08:30:06-8:000", "08:30:06 PST", "01:01:01,1111",
		"12:00:00", "12:00:00.52", "1২:00:00Z", "08:30:06#00:20", "ab:cd:efZ", "08:30:06+00:2", "12:00:00.Z",
	}},
	{wire.FormatDuration, []string{
		"P4DT12H30M5S", "P1Y2M3DT4H5M6S", "P4Y", "PT0S", "P0D", "P1M", "PT1M", "PT36H", "P1DT12H", "P2W", "P1Y2M", "P1M2D", "PT1H2M", "PT2M3S", "P0001D", "P1DT1S",
	}, []string{
		"", "P", "PT", "P1", "P1DT", "P1D2H", "PT1D", "P2D1Y", "P1D2D", "P1Y1D", "PT1H1S", "P1YT", "P2S", "P1Y2W", "P1W2D", "P1WT1H", "P1.5D", "PT1.5S", "PT1,5S",
		"-P1D", "P-1D", "p1d", "P1d", "P২Y", "1D", "PT1M1H", "P 1D", "P1D ", "PT1S1S", "P12",
	}},
	{wire.FormatUUID, []string{
		"2eb8aa08-aa98-11ea-b4aa-73b441d16380", "2EB8AA08-AA98-11EA-B4AA-73B441D16380", "2eb8aa08-AA98-11ea-B4Aa-73B441D16380", "00000000-0000-0000-0000-000000000000",
		"ffffffff-ffff-ffff-ffff-ffffffffffff",
	}, []string{
		"", "2eb8aa08-aa98-11ea-b4aa-73b441d1638", "2eb8aa08-aa98-11ea-73b441d16380", "2eb8aa08-aa98-11ea-b4ga-73b441d16380", "2eb8aa08aa9811eab4aa73b441d16380",
		"2eb8aa08aa98-11ea-b4aa73b441d16380", "2eb8-aa08-aa98-11ea-b4aa73b44-1d16380", "{2eb8aa08-aa98-11ea-b4aa-73b441d16380}", "2eb8aa08-aa98-11ea-b4aa-73b441d163800",
		"2eb8aa08-aa98-11ea-b4aa-73b441d1638৪",
	}},
	{wire.FormatIPv4, []string{"192.168.0.1", "0.0.0.0", "255.255.255.255", "87.10.0.1"}, []string{
		"", "127.0.0.0.1", "256.256.256.256", "127.0", "0x7f000001", "2130706433", "087.10.0.1", "192.168.01.1", "127.0.0.1/8", "1.2.3.4 ", "1২7.0.0.1", "1.2.3.",
		"::ffff:1.2.3.4", "1.2..4", "a.b.c.d", "-1.2.3.4",
	}},
	{wire.FormatIPv6, []string{
		"::1", "::", "::abef", "abcd:ef01:2345:6789:abcd:ef01:2345:6789", "::ffff:192.168.0.1", "1:2::3", "::42:ff:1", "d6::", "1:2:3:4:5:6:1.2.3.4", "2001:DB8::1",
		"1::d6:192.168.0.1", "0001:0::",
	}, []string{
		"", "12345::", "::abcef1", "1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1", "::laptop", ":2:3:4:5:6:7:8", "1:2:3:4:5:6:7:", "1:2:3:4:5:6:7", "1::d6::42", "2:3:4:5:6:7:8",
		":1", "1", ":::", "::ffff:256.1.1.1", "::ffff:1.2.3", "127.0.0.1", "fe80::a%eth1", "fe80::/64", "  ::1", "100:100:100:100:100:100:255.255.255.255.255", "1:2:3:4:5:::8",
		"::ffff:192.168.0.01", "1২::",
	}},
	{wire.FormatURI, []string{
		"http://foo.bar/?baz=qux#quux", "http://foo.com/blah_(wikipedia)_blah#cite-1", "http://foo.bar/?q=Test%20URL-encoded%20stuff", "http://xn--nw2a.xn--j6w193g/",
		"http://-.~_!$&'()*+,;=:%40:80%2f::::::@example.com", "http://223.255.255.254", "ftp://ftp.is.co.za/rfc/rfc1808.txt", "http://www.ietf.org/rfc/rfc2396.txt",
		"ldap://[2001:db8::7]/c=GB?objectClass?one", "mailto:John.Doe@example.com", "news:comp.infosystems.www.servers.unix", "tel:+1-816-555-1212",
		"urn:oasis:names:specification:docbook:dtd:xml:4.1.2", "http://[v1.fe:d]/", "http://[::1]:80/", "http://[::ffff:1.2.3.4]", "file:///etc/passwd", "a:", "http://a:/",
		"http://", "http:///a", "x+y-z.1:a?b?c/d#e?f/", "http://a@b:80", "about:blank", "http://a//b", "a:/b//c",
	}, []string{
		"", "//foo.bar/?baz=qux#quux", "/abc", `\\WINDOWS\fileshare`, "abc", "http:// shouldfail.com", ":// should fail", "bar,baz:foo", "http://[", "http://]", "http://[::1",
		"http://[1]/", "http://a b", "http://a/%zz", "http://a/%4", "http://a/%", "http://ä/", "http://a/<b>", "http://a/{b}", "http://a/^", "http://a/`", `http://a/"`, `http://a/\`,
		"http://a/|", "http://a/#b#c", "http://a[b]/", "http://a/[b]", "http://a/?[", "1http://a", "-a:b", ":a", "http://a:80a/", "http://[::1]80", "http://a@b@c", "http://[fe80::1%25en0]",
		"http://[v.a]", "http://[vg.a]", "http://[v1.]", "http://a\x00b", "https://[@example.org/test.txt", "https://example.org/foobar\\.txt", "http://a:1:2",
	}},
	{wire.FormatEmail, []string{
		"joe.bloggs@example.com", "te~st@example.com", "~test@example.com", "test~@example.com", "te.s.t@example.com", `"joe bloggs"@example.com`, `"joe..bloggs"@example.com`,
		`"joe@bloggs"@example.com`, "joe.bloggs@[127.0.0.1]", "joe.bloggs@[IPv6:::1]", "a@b", `"\""@a`, `""@a`, "a+b@c.d", "a@1.2", strings.Repeat("a", 64) + "@b", "!#$%&'*+-/=?^_`{|}~@a",
	}, []string{
		"", "2962", "@", "a@", "@b", ".test@example.com", "test.@example.com", "te..st@example.com", "joe.bloggs@invalid=domain.com", "joe.bloggs@[127.0.0.300]",
		"joe.bloggs@[127.0.0.1", "joe.bloggs@[::1]", "joe.bloggs@[IPv6:1.2.3.4]", "joe bloggs@example.com", `"joe@example.com`, `joe"@example.com`, `"a"b"@c`, `"a\"@b`,
		`"` + "\n" + `"@a`, "a@b@c", "a@-b", "a@b-", "a@b..c", "a@.b", "a@b.", "ä@b", "a@ä", strings.Repeat("a", 65) + "@b", "a@" + strings.Repeat("b.", 130) + "c", "a@[]", "a@b c", "a(b)@c",
		`"@a`, "a <b@c>",
	}},
	{wire.FormatHostname, []string{
		"www.example.com", "xn--4gbwdl.xn--wgbh1c", "a", "1host", "h0stn4me", "hostnam3", "a-b", "A.B", strings.Repeat("a", 63), strings.Repeat("a", 63) + "." + strings.Repeat("b", 63),
		"localhost", "1.2.3.4", strings.Repeat("a.", 126) + "a",
	}, []string{
		"", "-a", "a-", "a.-b.c", "_a", "a_b", "a b", "a..b", ".a", "a.", ".", strings.Repeat("a", 64), strings.Repeat("a.", 127), "ä", "a/b", "a:80", "not_a_valid_host_name", "a\n",
		"a\u3002b",
	}},
	{wire.FormatNone, []string{"", "anything"}, nil},
}

func TestFormats(t *testing.T) {
	for _, c := range formats {
		for _, s := range c.yes {
			assert.True(t, c.format.Match(s), "%s: %q", c.format, s)
		}
		for _, s := range c.no {
			assert.False(t, c.format.Match(s), "%s: %q", c.format, s)
		}
		f, ok := wire.ParseFormat(c.format.String())
		assert.Equal(t, c.format, f)
		assert.Equal(t, c.format != wire.FormatNone, ok)
	}
	_, ok := wire.ParseFormat("iri")
	assert.False(t, ok)
	assert.Equal(t, "unknown", wire.Format(99).String())
}
