package opa

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// shop is the declaration that the tables of policies are about.
const shop = `ambit: v1
package: shop
reasons: {no: No., other: Other.}
tools:
  pay:
    version: 1.0.0
    description: Pay.
    effect: write
    capabilities: [money]
    input:
      type: object
      properties:
        amount: {type: integer, minimum: 1, maximum: 1000, description: How much.}
        currency: {type: string, enum: [EUR, USD, GBP], description: In what.}
        to: {type: string, description: To whom.}
        level: {type: integer, enum: [1, 2, 3], description: How fast.}
        urgent: {type: boolean, description: Now.}
        lines: {type: array, items: {type: string, enum: [goods, tax, tip]}, description: What for.}
        card:
          type: object
          description: Which card.
          properties: {brand: {type: string, enum: [visa, master], description: Brand.}, last: {type: string, description: Last digits.}}
          required: [brand, last]
        host: {type: string, description: Optional host.}
        note: {type: string, maxLength: 20, description: Optional note.}
        tags: {type: array, items: {type: string}, description: Optional tags.}
        code: {type: string, pattern: "^[A-Z]{3}$", description: Optional code.}
        count: {type: integer, description: Optional count.}
        extra: {type: object, additionalProperties: {type: string}, description: Optional map.}
        address:
          type: object
          description: Optional address.
          properties: {city: {type: string, description: City.}, zip: {type: string, description: Optional zip.}}
          required: [city]
        items:
          type: array
          description: Optional items.
          items:
            type: object
            description: One.
            properties: {name: {type: string, description: Name.}, price: {type: integer, description: Optional price.}}
            required: [name]
        tries: {type: integer, default: 3, description: With a default.}
        way:
          description: How.
          oneOf:
            - type: object
              description: By card.
              properties: {kind: {type: string, const: card, description: Which.}, number: {type: string, description: Number.}}
              required: [kind, number]
            - type: object
              description: By bank.
              properties: {kind: {type: string, const: bank, description: Which.}, iban: {type: string, description: Account.}, bic: {type: string, description: Optional.}}
              required: [kind, iban]
      required: [amount, currency, to, level, urgent, lines, card, way]
    output:
      type: object
      properties:
        id: {type: string, description: Id.}
        receipt: {type: object, description: Receipt., properties: {card: {type: string, description: Card.}}, required: [card]}
        lines: {type: array, items: {type: object, properties: {text: {type: string, description: T.}}}, description: Lines.}
        open: {type: object, additionalProperties: true, description: Open.}
      required: [id]
  refund:
    version: 1.0.0
    description: Give back.
    effect: destructive
    input:
      type: object
      properties: {order: {type: string, description: Order.}, amount: {type: integer, description: How much.}}
      required: [order, amount]
    output: {type: object, properties: {id: {type: string, description: Id.}}}
  order_find:
    version: 1.0.0
    description: Find.
    effect: read
    modes: {till: [open, closed]}
    input: {type: object, properties: {query: {type: string, description: What.}}, required: [query]}
    output: {type: object, properties: {}}
`

// shopData is base data of the tables.
const shopData = `{
  "home": "EURO", "right": "EUR", "risky": ["pya", "refund"], "safe": ["pay", "refund"], "tool": "pya", "limits": {"EURO": 5, "USD": 6},
  "rates": {"EUR": 1, "USD": 2, "GBP": 3, "AUD": 4, "BSD": 5}, "most": "100", "number": 100, "zone": "Europe/Berln", "here": "Europe/Berlin",
  "net": "10.0.0.0/33", "nets": ["10.0.0.0/8", "10.1.2.3/40"], "text": 5, "hosts": ["a.example"], "spread": {"refund": {"max": 5}, "pya": {"max": 6}},
  "foreign": ["pay", "invoice_archive"], "users": {"alice": {"limit": 5}, "bob": {}}, "pattern": "[", "wait": "10 minutes"
}`

// A verdict is a policy of an organization's package and what is wrong with it;
// nothing when want is empty. The body of the rule stands for itself.
type verdict struct{ policy, want string }

// when returns a policy that refuses under a condition, with more rules.
func when(condition string, more ...string) string {
	return `deny contains {"code": "no", "message": "m"} if {` + "\n\t" + strings.ReplaceAll(condition, "; ", "\n\t") + "\n}\n\n" + strings.Join(more, "\n\n") + "\n"
}

// shopDir returns the policy directory of the shop.
func shopDir(t testing.TB) fstest.MapFS {
	t.Helper()
	fsys, _, err := generate(shop)
	require.NoError(t, err)
	fsys["acme/data.json"] = text(shopData)
	return fsys
}

// judge checks all policies at once, each in a file and a package of its own, and
// holds what is reported of each against what is wanted.
func judge(t *testing.T, header string, table []verdict) {
	t.Helper()
	fsys := shopDir(t)
	for i, v := range table {
		fsys[fmt.Sprintf("p%03d.rego", i)] = text(fmt.Sprintf(header, fmt.Sprintf("p%03d", i)) + "\n\n" + v.policy)
	}
	said, data := reported(Check(fsys))
	for i, v := range table {
		got := said[fmt.Sprintf("p%03d.rego", i)]
		switch {
		case v.want == "":
			assert.Empty(t, got, v.policy)
		case strings.HasPrefix(v.want, "acme/data.json"):
			assert.Contains(t, data, v.want, v.policy)
		default:
			assert.Contains(t, got, v.want, v.policy)
		}
	}
}

// reported returns the errors of each file, and those of all data files.
func reported(err error) (byFile map[string]string, data string) {
	byFile = map[string]string{}
	list, _ := err.(Errors)
	if err != nil && list == nil {
		panic(err)
	}
	for _, e := range list {
		byFile[e.File] += e.Error() + "\n"
		if strings.HasSuffix(e.File, "data.json") {
			data += e.Error() + "\n"
		}
	}
	return byFile, data
}

const orgHeader = "package ambit.policies.%s\n\nimport data.acme\n\nallow contains {\"code\": \"a\", \"message\": \"m\"} if acme.number == 1"

// alone checks policies one by one, in the package of a tool.
func alone(t *testing.T, tool string, table []verdict) {
	t.Helper()
	fsys := shopDir(t)
	for _, v := range table {
		fsys["t.rego"] = text("package ambit.tools." + tool + "\n\n" + v.policy)
		_, err := fs.Stat(fsys, "t.rego")
		require.NoError(t, err)
		if err := Check(fsys); v.want == "" {
			assert.NoError(t, err, v.policy)
		} else {
			assert.ErrorContains(t, err, v.want, v.policy)
		}
	}
}

// warned returns the warnings about a policy of an organization.
func warned(t *testing.T, fsys fstest.MapFS) Errors {
	t.Helper()
	b, err := check(fsys)
	require.NoError(t, err)
	return b.allWarnings()
}
