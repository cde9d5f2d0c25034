package console

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/ambit-tools/ambit/internal/catalog"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/host/internal/httpguard"
)

// tools serves the catalog. Every caller may read it: it says what the models are told, and what binds them.
func (p *pages) tools(q *request) error {
	var items []*runtime.Spec
	for _, t := range p.exec.Registry().All() {
		items = append(items, t.Spec())
	}
	slices.SortFunc(items, func(a, b *runtime.Spec) int { return cmp.Compare(a.Name, b.Name) })
	p.render(q, http.StatusOK, "tools", "Tools", items)
	return nil
}

// tool serves the declaration of one tool.
func (p *pages) tool(q *request) error {
	t, _, ok := p.exec.Registry().Lookup(q.id("name"))
	if !ok {
		return problem(httpguard.NotFound, "there is no such tool")
	}
	s := t.Spec()
	p.render(q, http.StatusOK, "tool", cmp.Or(s.Title, s.Name), struct {
		*runtime.Spec
		EffectWords, Old                string
		Facts, Consent, Limits, Binding []catalog.Fact
		NotEnforced                     []string
		Input, Output                   string
	}{
		s, catalog.Effect(s.Effect.String()), oldWords(s), catalog.Facts(s), catalog.Consent(s.Consent), catalog.Limits(s), catalog.Rules(&s.Rules), t.Unenforced(), schemaText(s.InputSchema), schemaText(s.OutputSchema),
	})
	return nil
}

func oldWords(s *runtime.Spec) string {
	if s.Deprecated == nil {
		return ""
	}
	return s.Deprecated.String()
}

// schemaText returns a schema as it is read best.
func schemaText(s *string) string {
	if s == nil {
		return ""
	}
	var out bytes.Buffer
	if json.Indent(&out, []byte(*s), "", "  ") != nil {
		return *s
	}
	return out.String()
}
