package regotest

import (
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen"
)

// Fixture declares one tool that reads, one that writes, one with every gate, one that asks.
const Fixture = `ambit: v1
package: filetools
reasons: {system_path: Below a system directory., too_big: Too big., night: At night., too_many: Too many.}
types:
  Meta:
    type: object
    description: About the file.
    properties: {owner: {type: string, description: Whose.}, note: {type: string, description: Why.}}
    required: [owner]
tools:
  file_read:
    version: 1.0.0
    description: Read a file.
    effect: read
    idempotent: true
    input:
      type: object
      properties: {path: {type: string, description: Where.}, limit: {type: integer, description: Lines.}}
      required: [path]
    output: {type: object, properties: {}}
  file_write:
    version: 1.2.0
    description: Write a file.
    effect: write
    capabilities: [filesystem.write]
    input:
      type: object
      properties:
        path: {type: string, description: Where.}
        content: {type: string, description: What.}
        mode: {type: string, enum: [create, append], description: How.}
        meta: {$ref: "#/types/Meta"}
        bytes: {type: integer, description: How much.}
        tags: {type: array, items: {type: string, description: One.}, description: Tags.}
        items: {type: array, items: {type: object, description: One., properties: {name: {type: string, description: Name.}}}, description: Parts.}
        ratio: {type: number, description: Share.}
        note: {type: [string, "null"], description: Note.}
        tries: {type: integer, default: 3, description: How often.}
        shape:
          description: Form.
          oneOf:
            - type: object
              description: Round.
              properties: {kind: {type: string, const: circle, description: Which.}, size: {type: integer, description: How big.}}
              required: [kind]
            - type: object
              description: With corners.
              properties: {kind: {type: string, const: square, description: Which.}, side: {type: integer, description: How long.}}
              required: [kind]
      required: [path, content, mode, meta]
    output: {type: object, properties: {card: {type: string, description: Card.}}, additionalProperties: true}
  web_search:
    version: 1.0.0
    description: Search.
    effect: read
    behaviors: [research]
    capabilities: [web]
    modes: {web_mode: [cached, live]}
    input:
      type: object
      properties:
        query: {type: string, description: What for.}
        extra: {type: object, additionalProperties: true, description: Anything.}
      required: [query]
    output: {type: object, properties: {}}
  file_delete:
    version: 1.0.0
    description: Delete a file.
    effect: destructive
    consent: {ask: always, message: "Delete {path}", approvers: [owner], timeout: 10m}
    input: {type: object, properties: {path: {type: string, description: Where.}}, required: [path]}
    output: {type: object, properties: {}}
`

// Text returns a file.
func Text(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }

// An Object is a decoded JSON object.
type Object = map[string]any

// Shop is the declaration that the tables of policies are about.
const Shop = `ambit: v1
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

// When returns a policy that refuses under a condition, with more rules.
func When(condition string, more ...string) string {
	return `deny contains {"code": "no", "message": "m"} if {` + "\n\t" + strings.ReplaceAll(condition, "; ", "\n\t") + "\n}\n\n" + strings.Join(more, "\n\n") + "\n"
}

// In returns a policy of one tool that denies when a condition holds.
func In(tool, condition string) string {
	return "package ambit.tools." + tool + "\n\n" + When(condition)
}

// ShopDir returns the policy directory of the shop.
func ShopDir(t testing.TB) fstest.MapFS {
	t.Helper()
	fsys, err := Generate(Shop)
	if err != nil {
		t.Fatal(err)
	}
	fsys["acme/data.json"] = Text(shopData)
	return fsys
}

// Tool returns a policy of the tool file_write.
func Tool(body string) string { return "package ambit.tools.file_write\n\n" + body + "\n" }

// Org returns a policy of all tools.
func Org(body string) string { return "package ambit.policies.security\n\n" + body + "\n" }

// Folder returns a directory of pairs of name and text, without generated files.
func Folder(pairs ...string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		fsys[pairs[i]] = Text(pairs[i+1])
	}
	return fsys
}

// Dir returns a policy directory: the generated files of the fixture and pairs of name and text.
func Dir(pairs ...string) fstest.MapFS {
	all := ofFixture()
	fsys := maps.Clone(all)
	for i := 0; i < len(pairs); i += 2 {
		fsys[pairs[i]] = Text(pairs[i+1])
	}
	return fsys
}

// Generate returns the policy directory that ambit generate writes for a declaration.
func Generate(declaration string) (fstest.MapFS, error) {
	f, err := dsl.Parse("tools.yaml", []byte(declaration))
	if err != nil {
		return nil, err
	}
	out, err := gen.Generate(f, gen.Options{Source: "tools.yaml"})
	if err != nil {
		return nil, err
	}
	fsys := fstest.MapFS{}
	for _, o := range out {
		if name, ok := strings.CutPrefix(o.Name, "policy/"); ok {
			fsys[name] = &fstest.MapFile{Data: o.Content}
		}
	}
	return fsys, nil
}

// ofFixture is the policy directory of the fixture.
var ofFixture = sync.OnceValue(func() fstest.MapFS {
	fsys, err := Generate(Fixture)
	if err != nil {
		panic(err)
	}
	return fsys
})

// Annotated returns a policy whose package has a custom annotation.
func Annotated(custom, rules string) string {
	return "# METADATA\n# title: Night\n# custom:\n" + custom + "package ambit.policies.night\n\n" + rules
}

// NightCodes is an annotation that declares a code; NightDeny is a rule that has it.
const (
	NightCodes = "#   reasons:\n#     asleep: Operators sleep at night.\n"
	NightDeny  = `deny contains {"code": "asleep", "message": "m"} if input.behavior == "research"`
)

// ClosedPolicy is a rule that denies by the behavior.
const ClosedPolicy = `deny contains {"code": "night", "message": "closed"} if input.behavior == "research"`
